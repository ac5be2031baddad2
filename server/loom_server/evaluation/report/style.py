"""The style of the page: the reader's own fonts, light and dark, and a print without colour."""

from __future__ import annotations

STYLE = """
:root{--page:#fff;--ink:#1b1f24;--soft:#59616b;--rule:#d5dae0;--a:#1f5fbf;--b:#a8480f;--c:#3f6b1e;--faint:#9db8de}
@media (prefers-color-scheme:dark){:root{--page:#14171b;--ink:#e6e9ed;--soft:#a2abb5;--rule:#39414a;--a:#7fb0ff;
--b:#f0a36b;--c:#a3cf7c;--faint:#41597d}}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:76rem;margin:0 auto;padding:1.5rem}
h1{font-size:1.6rem}h2{font-size:1.3rem;margin-top:2.5rem;border-top:1px solid var(--rule);padding-top:1rem}
h3{font-size:1.05rem;margin:1.8rem 0 .4rem}h4{font-size:.95rem;margin:.6rem 0 0}
a{color:var(--a)}p,figcaption{color:var(--soft);font-size:.875rem;max-width:60rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;font-size:.875rem;margin:0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.wide{overflow-x:auto}.wide:focus-visible{outline:2px solid var(--a)}
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.25rem .7rem .25rem 0;border-bottom:1px solid var(--rule);white-space:nowrap}
th{font-weight:600}tbody th{font-weight:500}
figure{margin:.6rem 0}svg{max-width:100%;height:auto;font:12px system-ui,sans-serif}svg text{fill:var(--ink)}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:1rem}
line.grid,.frame{stroke:var(--rule);fill:none}
.solid,.dot{fill:var(--a)}.faint{fill:var(--faint)}.line,.range{stroke:var(--ink);fill:none}
.mark{stroke:var(--page);stroke-width:2}
.series{fill:none;stroke-width:2}.s0{stroke:var(--a)}.s1{stroke:var(--b);stroke-dasharray:6 3}
.s2{stroke:var(--c);stroke-dasharray:2 3}.chance{fill:none;stroke:var(--soft);stroke-dasharray:1 4}
@media print{:root{--page:#fff;--ink:#000;--soft:#333;--rule:#bbb;--a:#000;--b:#000;--c:#000;--faint:#999}
main{max-width:none;padding:0}section{break-inside:auto}figure,tr,svg{break-inside:avoid}.wide{overflow:visible}nav{display:none}}
"""
