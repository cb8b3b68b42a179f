"""Scrapy doing the fetch alone: follows every link and requisite on the host, stores nothing, prints its counts."""

from __future__ import annotations

import json
import sys
from typing import Any
from urllib.parse import urlsplit

from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class WholeHost(CrawlSpider):
    """All of one host, as `webarc crawl --depth inf` sees it."""

    name = "whole-host"
    rules = (
        Rule(
            LinkExtractor(
                tags=("a", "area", "link", "img", "script", "frame", "iframe"),
                attrs=("href", "src"),
                deny_extensions=(),
            ),
            callback="count",
            follow=True,
        ),
    )

    def count(self, response: Response) -> None:
        """Nothing is stored; reading the body is what counts."""
        self.crawler.stats.inc_value("bench/html" if isinstance(response, HtmlResponse) else "bench/other")


def main(url: str, connections: int) -> None:
    """Crawls with as many connections as webarc, obeying robots.txt like webarc."""
    settings: dict[str, Any] = {
        "CONCURRENT_REQUESTS": connections,
        "CONCURRENT_REQUESTS_PER_DOMAIN": connections,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": True,
        "LOG_LEVEL": "ERROR",
        "DEPTH_LIMIT": 0,
        "TELNETCONSOLE_ENABLED": False,
        "DOWNLOAD_MAXSIZE": 0,
        "DOWNLOAD_WARNSIZE": 0,
    }
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(WholeHost)
    process.crawl(crawler, start_urls=[url], allowed_domains=[urlsplit(url).hostname])
    process.start()
    stats = crawler.stats.get_stats()
    print(json.dumps({name: stats.get(name, 0) for name in ("downloader/response_count", "downloader/response_bytes")}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
