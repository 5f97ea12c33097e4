"""Importers: outside sources to draft entries or catalogues.

Those that come with the program stand in importers/, one module each. Another package brings its own by an entry
point of the group `npu_kb.importers` whose name is the importer's:

    [project.entry-points."npu_kb.importers"]
    our-wiki = "our_package.wiki"

It is a module (or object) with `main(arguments: list[str]) -> exit status`; the first line of its docstring says what
it reads. One that makes draft entries hands its items to `session.import_drafts`, which does the rest.
"""
