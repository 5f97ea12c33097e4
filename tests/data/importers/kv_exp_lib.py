# ruff: noqa
# fmt: off
# coding=utf-8

kv_experience_list_cn = [
    {"ID": "kv_id_1",
     "Fault Name": "KV 分片文件缺失",  # a comment
     "Key Log Information": "shard .* of pool .* is missing",
     "Key Python Stack Information": "load_shard",
     "Key C++ Stack Information": "",
     "Error Case": """
                    pool.load(shard=3)
                              ^~~~~~~""",
     "Fault Cause": "分片文件没有下载完；"
                    "或者路径写错",
     "Modification Suggestion": "1.检查分片文件是否完整. 2.重新下载",
     "Fault Case": "https://example.org/kv/shard"},
    {"ID": "kv_id_2",
     "Fault Name": "KV 错误码",
     "Key Log Information": "errNo\[0x000000000(4|5)010001\]",
     "Fault Cause": "版本不配套",
     "Modification Suggestion": "使用配套版本"},
    {"ID": "kv_id_3", "Fault Name": open("/etc/passwd").read()},
    {"ID": "kv_id_4", "Fault Cause": "没有名称"},
]

general_kv_experience_list_cn = []
