/** The style of the pages: light and dark as the reader has it, rows as cards where a table does not fit. */
export const style = `:root{color-scheme:light dark;
--page:#f6f7f9;--card:#fff;--text:#1b1f24;--soft:#57606a;--line:#d5dae0;--link:#0b57c2;--button:#0b57c2;--on-button:#fff;
--good:#176d30;--warn:#9a5b00;--bad:#b3261e;--good-back:#e3f4e7;--warn-back:#fdf0d5;--bad-back:#fce8e6;--focus:#d97706}
@media (prefers-color-scheme:dark){:root{
--page:#0f1318;--card:#181e25;--text:#e6e9ed;--soft:#9aa5b1;--line:#323b46;--link:#7cb2ff;--button:#2f6fd6;--on-button:#fff;
--good:#5bc27a;--warn:#e3a548;--bad:#ff8f85;--good-back:#16301d;--warn-back:#3a2a0d;--bad-back:#3d1a17;--focus:#f5a524}}
*,::before,::after{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,sans-serif;overflow-wrap:break-word}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px;border-radius:.2rem}
.skip{position:absolute;left:-100vw;top:0;background:var(--card);padding:.6rem 1rem;z-index:1}
.skip:focus{left:0}
header{background:var(--card);border-bottom:1px solid var(--line);padding:.5rem 1rem}
header>div,main,footer{max-width:80rem;margin:0 auto}
.bar{display:flex;flex-wrap:wrap;align-items:baseline;justify-content:space-between;gap:.25rem 1.5rem}
.bar p{margin:0;font-weight:600}
.bar .who{font-weight:400;color:var(--soft);font-size:.9rem}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.15rem .25rem;margin:.35rem 0 0;padding:0}
nav a{display:block;padding:.3rem .65rem;border-radius:.4rem;text-decoration:none}
nav a:hover{text-decoration:underline}
nav a[aria-current=page]{background:var(--button);color:var(--on-button)}
main{padding:1rem}
footer{padding:0 1rem 2rem;color:var(--soft);font-size:.85rem}
h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0 1rem}
h2{font-size:1.15rem;line-height:1.3;margin:0 0 .75rem}
h3{font-size:1rem;margin:1rem 0 .35rem}
section{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:1rem;margin:0 0 1rem}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(22rem,100%),1fr));gap:0 1rem}
.soft{color:var(--soft)}
.small{font-size:.85rem}
.note{margin:0 0 1rem;padding:.65rem .9rem;border-left:.3rem solid var(--good);background:var(--good-back);border-radius:.3rem}
.note.warn{border-color:var(--warn);background:var(--warn-back)}
.note.bad{border-color:var(--bad);background:var(--bad-back)}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.75rem;margin:0}
.facts div{border:1px solid var(--line);border-radius:.4rem;padding:.45rem .7rem}
.facts dt{color:var(--soft);font-size:.85rem}
.facts dd{margin:0;font-size:1.2rem;font-variant-numeric:tabular-nums}
.facts.plain{grid-template-columns:repeat(auto-fit,minmax(13rem,1fr))}
.facts.plain dd{font-size:.95rem}
.tag{display:inline-block;padding:0 .5rem;border-radius:1rem;font-size:.85rem;border:1px solid currentColor;white-space:nowrap}
.tag.good{color:var(--good);background:var(--good-back)}
.tag.warn{color:var(--warn);background:var(--warn-back)}
.tag.bad{color:var(--bad);background:var(--bad-back)}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--soft);font-size:.85rem;padding:0 0 .4rem}
th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;border-bottom:1px solid var(--line)}
thead th{font-size:.85rem;color:var(--soft);font-weight:600;white-space:nowrap}
tbody th{font-weight:600}
tbody tr:last-child>*{border-bottom:0}
.number{text-align:right}
.wrap{overflow-x:auto}
code,pre,.who,.note{overflow-wrap:anywhere}
code,pre{font:.9em/1.45 ui-monospace,monospace}
pre{margin:.35rem 0;padding:.6rem;background:var(--page);border-radius:.4rem;white-space:pre-wrap;max-height:22rem;overflow:auto}
.fields{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(13rem,100%),1fr));gap:.75rem;align-items:end}
.fields .wide,.fields .buttons{grid-column:1/-1}
form.line{display:flex;flex-wrap:wrap;gap:.5rem;align-items:end}
label{display:block;font-size:.9rem;font-weight:600}
label.check{font-weight:400;display:flex;gap:.5rem;align-items:baseline}
.hint{color:var(--soft);font-size:.85rem;font-weight:400}
input,select,button{font:inherit;color:inherit;padding:.45rem .6rem;border:1px solid var(--soft);border-radius:.4rem;background:var(--card);max-width:100%}
input:not([type=checkbox]),select{display:block;width:100%;margin-top:.2rem}
button{background:var(--button);border-color:var(--button);color:var(--on-button);cursor:pointer;min-height:2.5rem}
button.quiet{background:transparent;color:var(--link)}
button.bad{background:var(--bad-back);border-color:var(--bad);color:var(--bad)}
.buttons{display:flex;flex-wrap:wrap;gap:.5rem}
svg{display:block;width:100%;height:auto}
svg text{fill:var(--soft);font:12px system-ui,sans-serif}
svg .axis{stroke:var(--line)}
svg .good{fill:var(--good)}
svg .bad{fill:var(--bad)}
svg .plain{fill:var(--link)}
.key{display:flex;gap:1rem;margin:.25rem 0 0;font-size:.85rem;color:var(--soft)}
.key span::before{content:"";display:inline-block;width:.7rem;height:.7rem;border-radius:.15rem;margin-right:.35rem;background:var(--link)}
.key .good::before{background:var(--good)}
.key .bad::before{background:var(--bad)}
details{margin:.75rem 0 1rem}
form .fields,.note{margin-top:.75rem}
td time{white-space:nowrap}
summary{cursor:pointer;color:var(--link)}
.timeline{list-style:none;margin:0;padding:0 0 0 1.1rem;border-left:2px solid var(--line)}
.timeline li{position:relative;padding:0 0 1rem}
.timeline li::before{content:"";position:absolute;left:-1.5rem;top:.4rem;width:.7rem;height:.7rem;border-radius:50%;background:var(--link)}
.timeline li.good::before{background:var(--good)}
.timeline li.warn::before{background:var(--warn)}
.timeline li.bad::before{background:var(--bad)}
.timeline p{margin:0}
@media (max-width:46rem){
body{font-size:16px}
main{padding:.75rem}
section{padding:.75rem}
table.cards,table.cards tbody,table.cards tr,table.cards td,table.cards th{display:block}
table.cards caption{display:block}
table.cards thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table.cards tr{border-bottom:1px solid var(--line);padding:.5rem 0}
table.cards tr:last-child{border-bottom:0}
table.cards td,table.cards tbody th{border:0;padding:.1rem 0;text-align:left}
table.cards td.none{display:none}
table.cards td[data-label]{display:grid;grid-template-columns:minmax(7rem,38%) minmax(0,1fr);gap:.5rem}
table.cards td>span,table.cards tbody th{overflow-wrap:anywhere}
table.cards td[data-label]::before{content:attr(data-label);color:var(--soft);font-size:.85rem}
button,nav a{min-height:2.75rem}
nav a{padding:.6rem .7rem}
}
@media (prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
`
