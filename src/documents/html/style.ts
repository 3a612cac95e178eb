import { createHash } from 'node:crypto'

/**
 * The style of a document: dark and light, phone and desktop, A4. Nothing is loaded; colours only supplement words.
 * Sizes of text are `--small` to `--huge`, spaces `--s1` to `--s6`; pages set `--text` and `--code`, the typefaces, to
 * those of the site (pages/style.ts).
 */
export const STYLE = `
:root { color-scheme: light dark; --page: #fff; --ink: #1b2330; --quiet: #566072; --line: #d8dde6; --soft: #f4f6f9; --link: #1a56b8;
  --good: #17693a; --good-bg: #e3f4e9; --warn: #7d4d00; --warn-bg: #fdf0d5; --bad: #a61b1b; --bad-bg: #fde6e4; --open: #4a4f98; --open-bg: #ebecfa;
  --text: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; --code: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --tiny: .8125rem; --small: .9rem; --large: 1.125rem; --title: 1.375rem; --huge: clamp(1.6rem, 5vw, 2.1rem);
  --s1: .25rem; --s2: .5rem; --s3: .75rem; --s4: 1rem; --s5: 1.5rem; --s6: 2.5rem; --round: .5rem }
@media screen and (prefers-color-scheme: dark) { :root { --page: #12161d; --ink: #e6eaf1; --quiet: #a3adbd; --line: #323a47; --soft: #1b212b; --link: #8fb8ff;
  --good: #7fd8a0; --good-bg: #143323; --warn: #f2c069; --warn-bg: #3a2b0e; --bad: #ff9d94; --bad-bg: #431b1b; --open: #b9bdff; --open-bg: #272a4d } }
@media print { :root { color-scheme: light } }
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1.25rem 3rem; background: var(--page); color: var(--ink); font: 1rem/1.55 var(--text) }
h1, h2, h3, h4 { line-height: 1.25; overflow-wrap: anywhere }
h1 { margin: var(--s1) 0 var(--s2); font-size: var(--huge); font-weight: 600; letter-spacing: -.01em }
h2 { margin: var(--s6) 0 var(--s3); font-size: var(--title); font-weight: 600 }
h3 { margin: 0 0 var(--s2); font-size: var(--large); font-weight: 600; display: flex; flex-wrap: wrap; gap: .3rem .6rem; align-items: baseline }
ul + h3, ol + h3, .check + h3, .scroll + h3 { margin-top: var(--s5) }
h4 { margin: 0 0 var(--s1); font-size: 1rem; font-weight: 600 }
p { margin: .4rem 0; overflow-wrap: anywhere }
ul { margin: .4rem 0; padding-left: 1.3rem }
li { overflow-wrap: anywhere }
a { color: var(--link); text-underline-offset: .15em }
a:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
code, pre { font: .9em/1.55 var(--code) } b, strong { font-weight: 600 }
code { overflow-wrap: anywhere } .whole { display: inline-block; max-width: 100% }
pre { margin: var(--s1) 0 var(--s2); padding: var(--s3); background: var(--soft); border: 1px solid var(--line); border-radius: var(--round); white-space: pre-wrap; overflow-wrap: anywhere }
.quiet { color: var(--quiet); font-size: var(--small) }
.brand { color: var(--quiet); font-size: var(--tiny); letter-spacing: .04em; text-transform: uppercase }
.verdict { display: flex; flex-wrap: wrap; gap: 1rem 1.75rem; align-items: flex-start; padding-bottom: .75rem }
.verdict > div:last-child { flex: 1 1 20rem; min-width: 0 }
.score { display: flex; align-items: stretch; border-radius: calc(1.5 * var(--round)); border: 2px solid currentColor; overflow: hidden }
.score p { margin: 0; padding: .55rem .95rem; text-align: center; line-height: 1.1 }
.score b { display: block; font-size: 2.6rem; font-weight: 600; line-height: 1 }
.score span { font-size: var(--tiny) }
.score p + p { border-left: 2px solid currentColor }
.lead { font-size: var(--large); margin: var(--s1) 0 }
.bars { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); gap: .6rem; margin: .75rem 0 0; padding: 0; list-style: none }
.bars li { display: grid; grid-template-columns: 1fr auto; align-items: baseline; padding: .6rem .75rem; border: 1px solid var(--line); border-radius: var(--round) }
.bars svg { grid-column: 1 / -1; display: block; width: 100%; height: .5rem; margin-top: .4rem }
.bars .of { font-variant-numeric: tabular-nums }
.bars .status { grid-column: 1 / -1; justify-self: start; margin-top: .5rem; white-space: normal }
.track { fill: var(--line) }
.fill { fill: currentColor }
.good { color: var(--good) } .warn { color: var(--warn) } .bad { color: var(--bad) } .open { color: var(--open) } .busy { color: var(--link) } .none { color: var(--quiet) }
.status, .severity { display: inline-block; padding: .05rem .5rem; border-radius: 1rem; font-size: var(--tiny); font-weight: 600; line-height: 1.5; white-space: nowrap; border: 1px solid currentColor }
.status.good, .severity.good { background: var(--good-bg) } .status.warn, .severity.warn { background: var(--warn-bg) } .status.bad, .severity.bad { background: var(--bad-bg) } .status.open, .severity.open { background: var(--open-bg) }
.mark { font-weight: 600 }
.check { margin: 1rem 0; padding: 1rem 1.15rem; border: 1px solid var(--line); border-radius: var(--round) }
.finding { margin: .9rem 0 0; padding: .75rem 0 0; border-top: 1px dashed var(--line) } h2 + .finding { margin: 0; padding: 0; border: 0 }
.publish { position: relative; margin: .6rem 0; border: 1px solid var(--line); border-radius: var(--round); overflow: hidden }
.publish p { margin: 0; padding: .3rem .75rem; background: var(--soft); border-bottom: 1px solid var(--line); font-size: var(--small); font-weight: 600 }
.publish dl { margin: 0; padding: .5rem .75rem }
dl { display: grid; grid-template-columns: minmax(4rem, max-content) 1fr; gap: .2rem 1rem; margin: .5rem 0 }
dt { color: var(--quiet); font-size: var(--small) }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere }
.publish code { -webkit-user-select: all; user-select: all }
.label { margin: .5rem 0 0; color: var(--quiet); font-size: var(--small) }
.scroll { overflow-x: auto; margin: .75rem 0 }
table { border-collapse: collapse; width: 100%; font-size: var(--small) }
caption { text-align: left; font-weight: 600; padding: 0 0 .35rem }
th, td { padding: .4rem .7rem .4rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line) }
th { color: var(--quiet); font-weight: 600; font-size: var(--tiny); white-space: nowrap } table { font-variant-numeric: tabular-nums }
td { min-width: 4.5rem } td:has(> .mark:only-child) { min-width: 8rem }
td code { overflow-wrap: normal }
td code.long { overflow-wrap: anywhere; display: inline-block; min-width: 16rem }
code, td, dd, .name, .hop { unicode-bidi: isolate } pre { unicode-bidi: plaintext }
.sum { margin: var(--s2) 0 0; font-size: var(--small) } .sum > summary { color: var(--link); cursor: pointer }
.map ol { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line) } .map ol > li { display: grid; gap: 0 var(--s4); padding: .35rem 0; border-bottom: 1px solid var(--line) } .map p { margin: 0 } .map ul { list-style: none; margin: 0; padding: 0 } .map .preference, .map .where { color: var(--quiet) } .map .where { font-size: var(--small) } .map ul .mark + .mark::before { content: "· "; color: var(--quiet); font-weight: 400 }
@media (min-width: 48rem) { .map ol > li:not(.long) { grid-template-columns: minmax(12rem, 2fr) 5fr } }
.path ol { list-style: none; margin: 0; padding: 0 } .path h3, .row > summary h3 { font-size: 1rem; font-weight: 400; margin: 0 } .path li { border: 1px solid var(--line); border-radius: var(--round); margin: .4rem 0; padding: .45rem .8rem } .path summary, .row > summary { cursor: pointer; list-style: none } .path summary::-webkit-details-marker, .row > summary::-webkit-details-marker { display: none }
.path h3 { display: grid; grid-template-columns: 4.6rem minmax(0, 1fr); gap: 0 .8rem; align-items: baseline } .path h3 > :not(.milestone) { grid-column: 2 } .path .milestone { grid-row: 1 / span 3; align-self: start; text-align: center; padding: .1rem .3rem; border: 2px solid currentColor; border-radius: var(--round); font-variant-numeric: tabular-nums; font-weight: 600 } .path .milestone.later { border-style: dashed } .path .milestone b { font-size: 1.15rem } .path .note, .path .why { color: var(--quiet); font-size: var(--small) }
.path details[open] > summary { margin-bottom: .5rem } .step > :not(summary) { margin-left: 5.4rem } .path .optional > summary { list-style: revert; padding: .3rem 0 }
.row { border-bottom: 1px solid var(--line) } h2 + .row { border-top: 1px solid var(--line) } .row > summary { padding: .3rem 0 } .row > summary h3 { display: grid; grid-template-columns: 11rem 9.5rem minmax(0, 1fr); gap: 0 var(--s3) } .row > :not(summary) { margin-left: var(--s4) } .row[open] { padding-bottom: var(--s4) } .row h4 { margin-top: var(--s3) }
.row > summary strong::before, .step > summary strong::before { content: "▸"; display: inline-block; width: 1em; color: var(--quiet) } .row[open] > summary strong::before, .step[open] > summary strong::before { content: "▾" }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.conclusion { margin: .2rem 0 .5rem } .conclusion .status { font-size: 1rem; padding: .15rem .8rem }
.tree, .cells, .map, .timeline, .progress, .conversation, .attempts { margin: .75rem 0 }
.tree > .label, .cells > .label, .map > .label, .timeline > .label, .progress > .label, .conversation > .label, .attempts > .label { font-weight: 600; color: var(--ink); font-size: var(--small) }
.tree ul { list-style: none; margin: 0; padding: 0 0 0 1.1rem } .tree > ul { padding: 0 }
.tree li { position: relative; padding: .18rem 0 } .tree li li::before { content: ""; position: absolute; left: -.75rem; top: 0; width: .55rem; height: .95rem; border: solid var(--line); border-width: 0 0 1px 1px }
.tree li li:not(:last-child)::after { content: ""; position: absolute; left: -.75rem; top: 0; bottom: 0; border-left: 1px solid var(--line) }
.tree pre { margin: .15rem 0; padding: .25rem .5rem; font-size: var(--tiny) }
.cost { font-size: var(--tiny); font-weight: 600; font-variant-numeric: tabular-nums; white-space: nowrap }
.meter { display: flex; flex-wrap: wrap; gap: .2rem .6rem; align-items: center; margin: .2rem 0; font-weight: 600; font-size: var(--small) } .meter svg { max-width: 100% }
.cells ul { list-style: none; margin: .3rem 0; padding: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .3rem .6rem }
.cells li { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 .6rem; align-content: start; overflow-wrap: break-word; padding: .25rem .6rem; border: 1px solid var(--line); border-radius: var(--round); color: inherit; font-size: var(--small) }
.cells .name { color: var(--ink); max-width: 100% } .cells .mark { white-space: nowrap; margin-left: auto }
.cells li.bad { border-color: var(--bad); background: var(--bad-bg) } .cells li.warn { border-color: var(--warn); background: var(--warn-bg) } .cells li.open { background: var(--open-bg) }
.hop { margin: 0; padding: .35rem .6rem; border: 1px solid var(--line); border-radius: var(--round); background: var(--soft) } .hop.from { display: inline-block; margin-bottom: .5rem; font-weight: 600 }
.chart { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: var(--s1) var(--s2); margin: var(--s2) 0; font-size: var(--tiny); color: var(--quiet); font-variant-numeric: tabular-nums }
.chart svg { display: block; width: 100%; height: 9rem; overflow: visible } .levels { display: flex; flex-direction: column; justify-content: space-between; text-align: right; margin: -.6rem 0 } .times { grid-column: 2; display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 var(--s4); margin-top: var(--s1) }
.chart line, .spark line { stroke: var(--line); vector-effect: non-scaling-stroke } .chart .pin { stroke: var(--quiet); stroke-dasharray: 2 3 } .chart polyline, .spark polyline { fill: none; stroke: var(--link); stroke-width: 2; stroke-linejoin: round; vector-effect: non-scaling-stroke } .dot { fill: none; stroke: currentColor; stroke-width: 9; stroke-linecap: round; vector-effect: non-scaling-stroke } .dot.open { stroke-width: 6 }
.spark { display: block; width: 8rem; height: 2rem; overflow: visible } .spark polyline { stroke-width: 1.5 } .spark .dot { stroke-width: 6 }
.beats { display: flex; flex-wrap: wrap; gap: .2rem .8rem; align-items: center } .beats svg { max-width: 100% }
.budget ul { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; margin: .3rem 0; padding: 0; list-style: none } .budget .odd { opacity: .55 } .budget .over { fill: var(--bad) } .budget .meter svg { flex: 0 1 auto; min-width: 0 }
.sides { display: flex; flex-wrap: wrap; gap: var(--s2) 2.2rem; align-items: center } .sides > .hop.from { position: relative; margin: 0 } .sides ul { display: grid; gap: var(--s2); margin: 0; padding: 0; list-style: none; flex: 1 1 18rem } .sides li { display: flex; flex-wrap: wrap; gap: .2rem .8rem; align-items: center } .sides li::before { content: "↔"; color: var(--quiet) }
.daybars { margin: var(--s2) 0 } .daybars > .label { font-weight: 600 } .daybars > svg { display: block; width: 100%; height: 10rem } .daybars line { stroke: var(--line); vector-effect: non-scaling-stroke } .daybars rect { fill: currentColor } .daybars .part-1 { opacity: .45 } .daybars .part-2 { opacity: .9 }
.daybars .ends { display: flex; justify-content: space-between; margin: var(--s1) 0; font-size: var(--tiny); color: var(--quiet) } .daybars .legend { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s4); list-style: none; padding: 0; margin: var(--s1) 0 }
.timeline summary, .numbers > summary { cursor: pointer; min-height: 1.75rem; color: var(--quiet); font-size: var(--small) } .timeline ol { margin: .4rem 0; padding-left: 2rem } .timeline li span { color: var(--ink) }
.progress svg { display: block; width: 100%; height: .6rem; border-radius: .3rem } .progress p { margin: .2rem 0; font-variant-numeric: tabular-nums } .progress rect.none { color: var(--quiet) }
.progress ul { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; list-style: none; margin: .5rem 0; padding: 0 }
.conversation ol { list-style: none; margin: .3rem 0; padding: .6rem .75rem; background: var(--soft); border: 1px solid var(--line); border-radius: var(--round) } .conversation li { display: grid; grid-template-columns: 3.6rem minmax(0, 1fr); align-items: baseline; padding: .05rem 0 }
.conversation .side { color: var(--quiet); font-size: var(--tiny) } .conversation .client code { font-weight: 600 } .conversation .note { display: block; padding-left: 3.6rem; color: var(--quiet) }
.attempts ol { margin: .3rem 0; padding-left: 1.4rem } .attempts li { padding: .25rem 0 } .attempts p { margin: .1rem 0 } .attempts .mark { display: block } .hop .mark { display: inline-block }
.number { text-align: right; font-variant-numeric: tabular-nums; padding-right: 1.2rem; white-space: nowrap } .number:last-child { padding-right: 0 } .when { white-space: nowrap }
tfoot td { font-weight: 700; border-bottom: 0; border-top: 2px solid var(--ink) }
footer { margin-top: 3rem; padding-top: .75rem; border-top: 1px solid var(--line) }
@media (max-width: 34rem) { .row > summary h3 { grid-template-columns: minmax(0, 1fr) auto } .row > summary h3 > :nth-child(n + 3) { grid-column: 1 / -1 } .step > :not(summary), .row > :not(summary) { margin-left: 0 } .path h3 { grid-template-columns: 4.2rem minmax(0, 1fr) } body { padding: 1rem .9rem 2rem } .check { padding: .85rem .9rem } dl { grid-template-columns: fit-content(8rem) 1fr; gap: .25rem .8rem } .publish dl { grid-template-columns: 1fr; gap: 0 } .publish dd { margin-bottom: .4rem }
  .cards, .cards caption, .cards tbody, .cards tfoot, .cards tr, .cards td { display: block } .cards thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) } .cards tr { padding: .45rem 0; border-bottom: 1px solid var(--line) }
  .cards td, .cards td:last-child { display: flow-root; min-width: 0; padding: .08rem 0 .08rem 7.5rem; border: 0; text-align: left; white-space: normal; overflow-wrap: anywhere } .cards td:empty { display: none } .cards td::before { content: attr(data-head); float: left; width: 7rem; margin-left: -7.5rem; color: var(--quiet) } .cards td code { overflow-wrap: anywhere; min-width: 0 }
  .cards.brief tr { display: flex; flex-wrap: wrap; gap: 0 var(--s4) } .cards.brief td { padding: 0 } .cards.brief td:first-child { flex: 1 1 60%; font-weight: 600 } .cards.brief td:last-child { flex: 1 1 100% } .cards.brief td::before { content: none } .cards.brief td.number, .cards.brief td:nth-child(n + 5) { color: var(--quiet) } .cards.brief td.number::before, .cards.brief td:nth-child(n + 5)::before { content: attr(data-head) ": "; float: none; margin: 0 } .cards.brief .wide { display: none }
  .bars { grid-template-columns: 1fr 1fr } .bars li { padding: .6rem .5rem } .bars .status { padding: .05rem .35rem; font-size: var(--tiny); white-space: normal } td:last-child:not(.number):not([data-head]) { min-width: 9rem } th { white-space: normal } td code { overflow-wrap: anywhere } .number { padding-right: .7rem } }
@page { size: A4; margin: 15mm 14mm }
@media print { html { font-size: 9pt } details:not([open])::details-content { content-visibility: visible } summary { list-style: none } summary::-webkit-details-marker { display: none } body { max-width: none; padding: 0 } h2, h3, h4, .label, caption { break-after: avoid } .finding, .publish, pre, tr, .bars li { break-inside: avoid }
  .status, .severity, .publish p, pre { print-color-adjust: exact; -webkit-print-color-adjust: exact } .bars { grid-template-columns: repeat(5, 1fr) } .bars svg { print-color-adjust: exact; -webkit-print-color-adjust: exact }
  .scroll { overflow: visible } table { font-size: var(--small) } td code { overflow-wrap: break-word } td code.long { overflow-wrap: anywhere; min-width: 0 } td { min-width: 0 } a { color: inherit } li .away::after { content: " (" attr(href) ")"; font-size: .8em; color: var(--quiet) } h2 { margin-top: 1.6rem } }
`

/**
 * The policy of a document, in the page and as a header of its answer: nothing is loaded or executed, and only this
 * style applies.
 */
export const CONTENT_SECURITY_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'`
