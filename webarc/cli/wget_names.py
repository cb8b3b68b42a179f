"""Options of wget that a crawl does not have, and what there is instead, for those who type them from habit."""

from __future__ import annotations

_INSTEAD = {
    ("-r", "--recursive"): "links are followed anyway, --depth says how far",
    ("-m", "--mirror"): "use --depth inf",
    ("-i", "--input-file"): "name the file with the URLs without an option",
    ("-H", "--span-hosts"): "use --scope any",
    ("-D", "--domains", "--exclude-domains"): "use --scope domain, or --include and --exclude with an expression",
    ("-A", "--accept"): "use --include with an expression, or --accept-type",
    ("-R", "--reject"): "use --exclude with an expression, or --reject-type",
    ("-I", "--include-directories"): "use --include with an expression",
    ("-X", "--exclude-directories"): "use --exclude with an expression",
    ("-L", "--relative"): "use --scope host",
    ("-e", "--execute"): "for robots=off use --no-robots",
    ("-k", "--convert-links", "-K", "--backup-converted"): "`webarc checkout --links relative` converts them in a copy",
    ("-O", "--output-document"): "`webarc get -o FILE` writes a page that was crawled",
    ("-P", "--directory-prefix"): "use --archive",
    ("-N", "--timestamping", "--no-clobber"): "only what changed is fetched again, and nothing is overwritten",
    ("-c", "--continue"): "--resume goes on with an interrupted crawl",
    ("-S", "--server-response"): "`webarc get --headers` prints the headers of a page that was crawled",
    ("-b", "--background"): "`webarc schedule` crawls without a terminal",
    ("-o", "--output-file"): "redirect the output, or use --report for every URL with its outcome",
    ("-4", "-6", "--inet4-only", "--inet6-only"): "both are tried",
    ("--spider",): "use --dry-run",
    ("--referer",): "use --header 'Referer: URL'",
    ("--post-data", "--post-file", "--method"): "a crawl only asks for pages, it sends no forms",
    ("--no-check-certificate",): "certificates are always checked",
    ("--connect-timeout", "--read-timeout", "--dns-timeout"): "use --timeout",
    ("--waitretry",): "pauses between tries grow by themselves",
}


def instead_of(option: str) -> str:
    """What to use instead of an option of wget; empty for any other."""
    return next((hint for names, hint in _INSTEAD.items() if option in names), "")
