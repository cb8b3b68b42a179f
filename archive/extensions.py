"""File name extensions: which one a document gets in its ARC, and which type an extension speaks for."""

from __future__ import annotations

import re
from functools import lru_cache

# The first extension is what a type gets when the URL has none that fits. Written down here rather than taken from the
# system, so that a page keeps its file name on every machine and with every Python.
_TABLE = """
text/html html htm shtml xhtml
application/xhtml+xml xhtml xht html htm
text/plain txt text log cfg conf ini rst diff patch asc properties
text/css css
text/javascript js mjs cjs
text/csv csv
text/tab-separated-values tsv tab
text/markdown md markdown mkd
text/calendar ics
text/vcard vcf
text/vtt vtt
text/rtf rtf
text/troff man roff
text/x-c c h cc cpp hpp cxx
text/x-java java
text/x-script.python py
text/x-python py
text/x-shellscript sh bash
text/x-perl pl pm
text/x-ruby rb
text/x-php php
text/x-lua lua
text/x-tex tex sty
text/x-diff diff patch
text/x-msdos-batch bat cmd
text/x-go go
text/x-rust rs
text/typescript ts tsx
application/json json map webmanifest
application/manifest+json webmanifest json
application/ld+json jsonld json
application/geo+json geojson json
application/x-ndjson ndjson jsonl
application/xml xml xsd xsl xslt rng wsdl dtd
text/xml xml xsd xsl xslt
application/rss+xml rss xml rdf
application/atom+xml atom xml
application/rdf+xml rdf xml owl
application/mathml+xml mml xml
application/yaml yaml yml
application/toml toml
application/sql sql
application/x-subrip srt
application/vnd.apple.mpegurl m3u8
application/dash+xml mpd xml
application/pgp-signature sig asc
application/pgp-keys asc key
application/pdf pdf
application/postscript ps eps ai
application/rtf rtf
application/zip zip
application/gzip gz tgz svgz
application/x-bzip2 bz2 tbz tbz2
application/x-xz xz txz
application/zstd zst
application/x-tar tar
application/x-7z-compressed 7z
application/vnd.rar rar
application/java-archive jar war
application/vnd.android.package-archive apk
application/x-xpinstall xpi
application/epub+zip epub
application/vnd.google-earth.kmz kmz
application/vnd.google-earth.kml+xml kml xml
application/vnd.comicbook+zip cbz
application/msword doc dot
application/vnd.ms-excel xls xlt
application/vnd.ms-powerpoint ppt pps pot
application/vnd.ms-outlook msg
application/x-msi msi
application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
application/vnd.oasis.opendocument.text odt
application/vnd.oasis.opendocument.spreadsheet ods
application/vnd.oasis.opendocument.presentation odp
application/vnd.oasis.opendocument.graphics odg
application/wasm wasm
application/java-vm class
application/vnd.debian.binary-package deb udeb
application/x-rpm rpm
application/x-iso9660-image iso
application/vnd.microsoft.portable-executable exe dll sys
application/x-executable elf
application/x-sharedlib so
application/vnd.sqlite3 sqlite db sqlite3
application/x-shockwave-flash swf
application/octet-stream bin dat img dmg
application/ogg ogx ogg
font/woff woff
font/woff2 woff2
font/ttf ttf
font/otf otf
font/collection ttc
application/vnd.ms-fontobject eot
image/png png
image/apng apng png
image/jpeg jpg jpeg jpe jfif
image/gif gif
image/svg+xml svg
image/webp webp
image/avif avif
image/heic heic
image/jxl jxl
image/bmp bmp dib
image/tiff tif tiff
image/vnd.microsoft.icon ico cur
image/vnd.djvu djvu djv
image/vnd.adobe.photoshop psd
image/jp2 jp2
audio/mpeg mp3 mpga
audio/ogg ogg oga opus spx
audio/wav wav
audio/flac flac
audio/mp4 m4a mp4
audio/aac aac
audio/midi mid midi
audio/webm weba webm
audio/aiff aif aiff
video/mp4 mp4 m4v
video/mpeg mpg mpeg
video/ogg ogv ogg
video/webm webm
video/quicktime mov qt
video/x-msvideo avi
video/x-matroska mkv
video/x-flv flv
video/mp2t ts m2ts
message/rfc822 eml mht mhtml
"""

_LAST_SEGMENT = re.compile(r"[^?#]*/([^/?#]*)")
_EXTENSION = re.compile(r"[a-z0-9]{1,16}")
_RESERVED = "files"  # data.files is the folder of what clients add

_OF_TYPE: dict[str, tuple[str, ...]] = {
    line.split()[0]: tuple(line.split()[1:]) for line in _TABLE.strip().splitlines()
}
_TYPE_OF: dict[str, str] = {}
for _type, _names in _OF_TYPE.items():
    for _name in _names[:1]:
        _TYPE_OF.setdefault(_name, _type)
for _type, _names in _OF_TYPE.items():
    for _name in _names[1:]:
        _TYPE_OF.setdefault(_name, _type)

_TEXTUAL = frozenset(
    {
        "application/javascript",
        "application/json",
        "application/x-ndjson",
        "application/xml",
        "application/yaml",
        "application/toml",
        "application/sql",
        "application/x-subrip",
        "application/vnd.apple.mpegurl",
        "application/pgp-signature",
        "application/pgp-keys",
        "application/x-sh",
        "application/x-httpd-php",
        "application/graphql",
        "application/typescript",
        "image/svg+xml",
        "message/rfc822",
        "application/x-x509-ca-cert",
        "application/pkix-cert",
        "application/x-pem-file",
        "application/x-tex",
    }
)


def extension(url: str, mime_type: str) -> str:
    """The document's extension: the URL's if it fits the type, else the type's own, else `bin`.

    It is `xml` for XML documents, whose bytes `data_name` keeps apart from the metadata; it is never `files`.
    """
    given = extension_in(url)
    if given and _fits(given, mime_type):
        return given
    return _default(mime_type)


def data_name(extension_of_document: str) -> str:
    """The file's name in its ARC; `data.xml` is always the metadata, so an XML document is `data.content.xml`."""
    return "data.content.xml" if extension_of_document == "xml" else f"data.{extension_of_document}"


def extension_in(url: str) -> str:
    """The extension of a URL's last path segment, lower case; empty if there is none."""
    match = _LAST_SEGMENT.match(url.partition("//")[2])
    return extension_of_name(match[1]) if match else ""


def extension_of_name(name: str) -> str:
    """The extension of a file name, lower case; empty if there is none that could be one."""
    stem, _, last = name.rpartition(".")
    last = last.lower()
    return last if stem and last != _RESERVED and _EXTENSION.fullmatch(last) else ""


def type_of_extension(name: str) -> str:
    """The MIME type that an extension speaks for, or an empty text."""
    return _TYPE_OF.get(name, "")


def is_textual(mime_type: str) -> bool:
    """Whether documents of this type are text to read."""
    return mime_type.startswith("text/") or mime_type.endswith(("+xml", "+json", "+yaml")) or mime_type in _TEXTUAL


@lru_cache(maxsize=4096)
def _fits(name: str, mime_type: str) -> bool:
    if name in _OF_TYPE.get(mime_type, ()):
        return True
    known = _TYPE_OF.get(name, "")
    if mime_type == "text/plain" or (mime_type.startswith("text/x-") and mime_type not in _OF_TYPE):
        return is_textual(known) and known not in ("text/html", "application/xhtml+xml", "text/x-php")
    if mime_type == "application/octet-stream":
        return bool(known) and not is_textual(known)
    # A jar or a docx that nothing but its name tells from a zip is still best kept under that name.
    return mime_type == "application/zip" and is_zipped(known)


def is_zipped(mime_type: str) -> bool:
    """Whether documents of this type are zip files inside."""
    return mime_type.endswith("+zip") or mime_type.startswith(
        (
            "application/vnd.openxmlformats-",
            "application/vnd.oasis.opendocument.",
            "application/java-archive",
            "application/vnd.android.package-archive",
            "application/vnd.google-earth.kmz",
            "application/vnd.ms-",
            "application/x-xpinstall",
        )
    )


@lru_cache(maxsize=4096)
def _default(mime_type: str) -> str:
    if mime_type in _OF_TYPE:
        return _OF_TYPE[mime_type][0]
    if mime_type.endswith("+xml"):
        return "xml"
    if mime_type.endswith("+json"):
        return "json"
    if mime_type.endswith("+zip"):
        return "zip"
    return "txt" if mime_type.startswith("text/") else "bin"
