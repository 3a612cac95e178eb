/**
 * The style of pages in addition to that of documents (documents/html/style.ts, whose colours it uses): the frame, the search field, forms, places for parts.
 */
export const PAGE_STYLE = `
[hidden] { display: none !important }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.skip { position: absolute; left: -100vw; top: .5rem; padding: .4rem .8rem; background: var(--page); z-index: 1 }
.skip:focus { left: .5rem }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
.rows th:first-child { width: 1% }
main[tabindex]:focus, main[tabindex]:focus-visible { outline: none }
main .brand { display: none }
section > header > h1 { margin: 2.75rem 0 .75rem; padding-bottom: .35rem; border-bottom: 2px solid var(--line); font-size: 1.35rem } section > header ~ h2 { margin: 1.75rem 0 .5rem; padding: 0; border: 0; font-size: 1.12rem }
.check > h2:first-child { margin: 0 0 .5rem; padding: 0; border: 0; font-size: 1.12rem }
.top { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: -.5rem 0 1.75rem; padding-bottom: .75rem; border-bottom: 1px solid var(--line) }
.top .home { font-weight: 700; font-size: 1.1rem; text-decoration: none; color: var(--ink); padding: .35rem 0 }
.top nav { display: flex; flex-wrap: wrap; gap: .1rem .25rem; align-items: center; margin: 0 -.5rem 0 auto }
.top nav a, .top nav button { padding: .35rem .5rem; min-height: 2rem }
.top nav a[aria-current] { font-weight: 700; text-decoration-thickness: 2px }
.top form { margin: 0 }
.box { display: flex; gap: .4rem; flex: 1 1 14rem; max-width: 26rem }
.box input { flex: 1 1 8rem; min-width: 0 }
input:not([type=checkbox], [type=radio]), select, textarea { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--quiet); border-radius: .4rem; padding: .4rem .6rem; max-width: 100%; min-height: 2.65rem }
::file-selector-button { font: inherit; font-size: .88rem; color: var(--link); background: var(--soft); border: 1px solid var(--line); border-radius: .3rem; padding: .1rem .6rem; margin-right: .6rem; cursor: pointer }
textarea { width: 100%; font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .92rem; resize: vertical }
::placeholder { color: var(--quiet); opacity: 1 }
button, .button { font: inherit; font-weight: 600; display: inline-block; cursor: pointer; color: var(--page); background: var(--link); border: 1px solid var(--link); border-radius: .4rem; padding: .4rem .9rem; text-decoration: none }
button.plain, button.copy, button.second { color: var(--link); background: none; border-color: transparent; font-weight: 400; text-decoration: underline; text-underline-offset: .15em }
button.second, .button.second { border-color: var(--line); text-decoration: none; font-weight: 400; color: var(--link); background: none }
button.danger { color: var(--bad); background: none; border-color: var(--bad) }
button.copy { float: right; position: relative; font-size: .85rem; padding: .1rem .5rem; margin: 0 0 .2rem .5rem; border-color: var(--line); text-decoration: none; background: var(--page) }
button.copy + pre { padding-right: 5rem } button.copy:has(+ pre) { top: .62rem; right: .45rem }
.start h1 { margin-top: 1rem }
.large { display: block; max-width: 44rem; margin: 1rem 0 }
.large label { display: block; font-weight: 600; margin-bottom: .3rem }
.line { display: flex; gap: .5rem }
.large input { font-size: 1.2rem; padding: .6rem .8rem }
.can dt { font-weight: 600; color: var(--ink) }
.controls { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: 1.25rem 0; font-size: .92rem }
.controls label { display: flex; flex-wrap: wrap; gap: .35rem; align-items: center; color: var(--quiet) }
.controls label:not(.tick) input { width: 9rem } .controls label:not(.tick) input, .controls select, .controls button { min-height: 2.25rem; padding-top: .2rem; padding-bottom: .2rem }
.controls button { font-size: .92rem; color: var(--link); background: none }
.places { list-style: none; padding: 0; display: grid; gap: .4rem }
.places li { display: grid; grid-template-columns: minmax(8rem, 12rem) 1fr; gap: .25rem 1rem; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: .5rem }
.places .what { font-weight: 600 }
.places .said { min-width: 0; overflow-wrap: anywhere }
.places .done .what::after { content: " ✓"; color: var(--quiet) }
.notice { padding: .6rem .9rem; border: 1px solid var(--line); border-left: .35rem solid var(--open); border-radius: .4rem; background: var(--soft) }
.problem { color: var(--bad); font-weight: 600 }
.try { margin: .5rem 0; border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .9rem }
summary { cursor: pointer; overflow-wrap: anywhere }
.try form, .stack { display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: end; margin: .75rem 0 .4rem }
.try label, .stack label { display: grid; grid-template-columns: minmax(0, 1fr); gap: .2rem; color: var(--quiet); font-size: .92rem; min-width: 0 }
.try > form > label:not(.tick) > input { width: 22rem } .stack label { max-width: 100% } input[type=file] { height: 2.65rem; padding: .45rem .6rem } .stack select { height: 2.65rem } .stack input[type=file], .stack select { width: 100% }
.wide { flex: 1 1 100% }
fieldset { display: flex; flex-wrap: wrap; gap: .5rem 1rem; border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .9rem .75rem; margin: 0; min-width: 0 } .stack .tick { display: flex; gap: .35rem; align-items: center } .stack fieldset label:not(.tick) > input { width: 22rem } .stack fieldset .short[type=number] { width: 5.5rem } .stack fieldset label > .short[type=time] { width: 8.5rem } .tick input { flex: none; margin: .2rem }
.login { display: grid; gap: .5rem; max-width: 30rem; justify-items: start }
.login input { width: 100% }
.document table { font-size: .9rem } .document img { max-width: 100% } .document h1 { font-size: 1.8rem }
.document section { content-visibility: auto; contain-intrinsic-size: auto 50rem; margin: 0 -.5rem; padding: 0 .5rem }
.document h3 { margin-top: 1.5rem } .document td, .document th { overflow-wrap: break-word; white-space: normal; min-width: 6rem } .document pre { white-space: pre; overflow-x: auto }
.index { columns: 2 18rem; list-style: none; padding: 0 } .index li { padding: .2rem 0; break-inside: avoid }
.actions { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .75rem 0 } .actions form { margin: 0 } .keep { margin-top: 2.5rem }
.drop { border: 2px dashed var(--line); border-radius: .6rem; padding: .5rem 1rem 1rem; margin: 1rem 0 } .list { max-width: 44rem } .list .drop { border: 0; padding: 0; margin: 0 } .drop.over, .list .drop.over { border-color: var(--link); background: var(--soft) }
progress { width: 100%; height: .8rem; accent-color: var(--link) }
@media (max-width: 34rem) { .top { gap: .5rem .3rem; margin: -.5rem 0 1.25rem } .top nav { gap: 0; margin: 0 -.35rem 0 auto } .top nav a, .top nav button { padding: .35rem } main > .controls { display: grid; grid-template-columns: fit-content(8rem) minmax(0, 1fr) } main > .controls label:not(.tick) { display: contents } main > .controls .tick { grid-column: 1 / -1 } main > .controls label:not(.tick) > * { width: 100%; max-width: none } main > .controls button { grid-column: 1 / -1; justify-self: start } .rows tr { display: flex; flex-wrap: wrap; gap: 0 .75rem } .rows td, .rows td:last-child { padding: 0 } .rows td::before { float: none; margin: 0 .5rem 0 0 } .rows td:nth-child(-n + 4)::before { content: none } .rows td:nth-child(1) { color: var(--quiet) } .rows td:nth-child(2) { flex: 1 1 70% } .rows td:nth-child(4) { flex: 1 } .rows td:nth-child(n + 5) { flex: 1 1 100% } .document td:not([data-head]) { min-width: 0 } .document td code { overflow-wrap: anywhere } .box { flex-basis: 100%; max-width: none; order: 3 } .places li { grid-template-columns: 7rem minmax(0, 1fr); gap: .5rem } .try > form > label:not(.tick) > input { width: 100% } .try label, .stack label:not(.tick) { flex: 1 1 100% } .stack label:not(.tick) > input:not(.short), .stack fieldset label:not(.tick) > input:not(.short), .stack select { width: 100% } .large .line { flex-wrap: wrap } .large .line button { width: 100% } }
@media (prefers-reduced-motion: no-preference) { [aria-busy=true] .places li:not(.done) .said { animation: wait 1.6s ease-in-out infinite alternate } @keyframes wait { to { opacity: .65 } } }
@media print { .document section { content-visibility: visible !important } details.check:not([open])::details-content { content-visibility: visible } .top, .controls, .try, #try, #try + p, button, .skip { display: none !important } }
`
