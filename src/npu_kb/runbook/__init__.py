"""The knowledge as Markdown to read and print: select entries, make pages, put them into one file or a tree."""
