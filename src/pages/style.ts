/**
 * The style of pages in addition to that of documents (documents/html/style.ts, whose colours, sizes and spaces it
 * uses): typefaces, the frame, navigation, forms, lists, and places for parts. `fonts` has the path of each font file
 * by its name.
 */
export const pageStyle = (fonts: Readonly<Record<string, string>>): string =>
  `${[
    ['Text', 400, 'text-400'],
    ['Text', 600, 'text-600'],
    ['Code', 400, 'code-400'],
  ]
    .flatMap(([family, weight, name]) =>
      fonts[String(name)] === undefined
        ? []
        : [
            `@font-face { font-family: "mailsonde ${family}"; font-weight: ${weight}; font-display: swap; src: url("${fonts[String(name)]}") format("woff2") }\n`,
          ],
    )
    .join('')}${STYLE}`

const STYLE = `
:root { --text: "mailsonde Text", system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; --code: "mailsonde Code", ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace }
[hidden] { display: none !important }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.skip { position: absolute; left: -100vw; top: var(--s2); padding: var(--s2) var(--s3); background: var(--page); z-index: 2 }
.skip:focus { left: var(--s2) }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px }

/* The frame. */
body { max-width: none; padding: 0 }
.top, main, .end { max-width: 66rem; margin-inline: auto; padding-inline: 1.25rem }
.bar { background: var(--soft); border-bottom: 1px solid var(--line) }
.top { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s4); align-items: center; padding-block: var(--s2) }
.home { display: inline-flex; gap: .5rem; align-items: center; min-height: 2.5rem; font-weight: 600; font-size: 1.2rem; letter-spacing: -.02em; text-decoration: none; color: var(--ink) }
.home svg { width: 1.7rem; height: 1.7rem; color: var(--link) } .home g { fill: var(--page); stroke: var(--page) }
.top nav { display: flex; flex-wrap: wrap; align-items: center; margin: 0 -.6rem 0 auto }
.top nav a, .top nav button { display: inline-flex; align-items: center; min-height: 2.5rem; padding: 0 .6rem; font-size: .95rem; color: var(--ink); text-decoration: none; border-radius: var(--round) }
.top nav a:hover, .top nav button:hover { background: var(--line) }
.top nav a[aria-current] { font-weight: 600; color: var(--link); box-shadow: inset 0 -3px 0 var(--link); border-radius: 0 }
.top form { margin: 0 }
main { padding-block: var(--s5) var(--s6) }
/* While an answer is awaited and after it, so that a short one does not move the end of the page into view. */
main[data-answer] { min-height: 100vh }
main[tabindex]:focus, main[tabindex]:focus-visible { outline: none }
main .brand { display: none }
.end { margin-top: 0; padding-block: var(--s3) var(--s5); font-size: var(--small); border-top: 1px solid var(--line) } .end nav { display: flex; flex-wrap: wrap; gap: 0 var(--s4) } .end a { display: inline-flex; align-items: center; min-height: 2rem; color: var(--quiet); text-decoration: none } .end a:hover { text-decoration: underline } .end a[aria-current] { color: var(--ink); font-weight: 600 }
.back { margin: 0 0 var(--s2); font-size: var(--small) }

/* Headings of documents within pages. */
section > header > h1 { margin: var(--s6) 0 var(--s3); font-size: var(--title) } section > header ~ h2 { margin: var(--s5) 0 var(--s2); font-size: var(--large) }
.check > h2:first-child { margin: 0 0 var(--s2); font-size: var(--large) }

/* Fields and buttons. */
input:not([type=checkbox], [type=radio]), select, textarea { font: inherit; color: var(--ink); background: var(--page); border: 1px solid var(--quiet); border-radius: var(--round); padding: .4rem .65rem; max-width: 100%; min-height: 2.65rem }
::placeholder { color: var(--quiet); opacity: .8; font-style: italic }
[aria-invalid=true] { border-color: var(--bad) !important; border-width: 2px !important }
::file-selector-button { font: inherit; font-size: var(--small); color: var(--link); background: var(--soft); border: 1px solid var(--line); border-radius: var(--round); padding: .1rem .6rem; margin-right: .6rem; cursor: pointer }
textarea { width: 100%; font-family: var(--code); font-size: .92rem; resize: vertical }
input[type=checkbox], input[type=radio] { width: 1.15rem; height: 1.15rem; accent-color: var(--link) }
button, .button { font: inherit; font-weight: 600; display: inline-block; cursor: pointer; color: var(--page); background: var(--link); border: 1px solid var(--link); border-radius: var(--round); padding: .4rem 1rem; min-height: 2.5rem; text-decoration: none }
button:hover, .button:hover { filter: brightness(1.08) }
button.plain { color: var(--link); background: none; border-color: transparent; font-weight: 400; text-decoration: underline; text-underline-offset: .15em }
.top nav button.plain { text-decoration: none }
button.second, .button.second, .controls button { border-color: var(--quiet); font-weight: 400; color: var(--ink); background: none }
button.danger { color: var(--bad); background: none; border-color: var(--bad); font-weight: 400 }
.problem { color: var(--bad); font-weight: 600 }
label .problem, .field .problem { display: block; margin: var(--s1) 0 0; font-size: var(--small) }
.notice { padding: var(--s3) var(--s4); border: 1px solid var(--line); border-left: .35rem solid var(--open); border-radius: var(--round); background: var(--soft) }
.box { display: flex; gap: var(--s2); flex: 1 1 14rem; max-width: 24rem }
.box input { flex: 1 1 8rem; min-width: 0 }
.copyable { position: relative; display: block; min-width: 0 } .copyable > pre { padding-right: 5.5rem } dd.copyable { position: static }
button.copy { position: absolute; top: .35rem; right: .35rem; min-height: 1.75rem; padding: 0 .6rem; font-size: var(--tiny); font-weight: 400; color: var(--link); background: var(--page); border-color: var(--line) } .publish button.copy { top: .18rem }
.large { display: block; max-width: 44rem; margin: var(--s4) 0 }
.large label { display: block; font-weight: 600; margin-bottom: var(--s1) }
.line { display: flex; gap: var(--s2) }
.large input { font-size: 1.2rem; padding: .6rem .8rem; flex: 1 1 auto }
.controls { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s4); align-items: center; margin: var(--s4) 0; font-size: var(--small) }
.controls label { display: flex; flex-wrap: wrap; gap: var(--s2); align-items: center; color: var(--quiet) }
.controls label:not(.tick) input { width: 9rem } .controls label:not(.tick) input, .controls select, .controls button { min-height: 2.25rem; padding-block: .2rem; font-size: var(--small) }
.try { margin: var(--s2) 0; border: 1px solid var(--line); border-radius: var(--round); padding: var(--s2) var(--s4) }
summary { cursor: pointer; overflow-wrap: break-word; min-height: 1.75rem }
.try form, .stack { display: flex; flex-wrap: wrap; gap: var(--s3) var(--s4); align-items: end; margin: var(--s3) 0 var(--s2) }
.try label, .stack label { display: grid; grid-template-columns: minmax(0, 1fr); gap: .2rem; color: var(--quiet); font-size: var(--small); min-width: 0 }
.try > form > label:not(.tick) > input { width: 22rem } .stack label { max-width: 100% } input[type=file] { height: 2.65rem; padding: .45rem .6rem } .wide input[type=file] { height: 5rem; padding: 1.6rem .6rem; border-style: dashed } .stack select { height: 2.65rem } .stack input[type=file], .stack select { width: 100% }
.wide { flex: 1 1 100% }
fieldset { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s4); border: 1px solid var(--line); border-radius: var(--round); padding: var(--s2) var(--s4) var(--s3); margin: 0; min-width: 0 } legend { font-size: var(--small); font-weight: 600 } .stack .tick { display: flex; gap: var(--s2); align-items: center; min-height: 1.75rem } .stack fieldset label:not(.tick) > input { width: 22rem } .stack fieldset .short[type=number] { width: 5.5rem } .stack fieldset label > .short[type=time] { width: 8.5rem } .tick input { flex: none; margin: .2rem }
.stack details { flex: 1 1 100% } .stack details > :not(summary) { margin-top: var(--s3) }
.login { display: grid; gap: var(--s2); max-width: 30rem; justify-items: start }
.login input { width: 100% }
.actions { display: flex; flex-wrap: wrap; gap: var(--s2); align-items: center; margin: var(--s3) 0 } .actions form { margin: 0 }
.head { display: flex; flex-wrap: wrap; gap: 0 var(--s5); align-items: flex-start } .head.waits { min-height: 24rem } .head > header { flex: 1 1 34rem; min-width: 0 } .head > .actions { flex: 0 0 auto; max-width: 100% }
@media (min-width: 64rem) { .head .verdict { min-height: 9rem } .head > .actions { margin-top: 0; display: grid; grid-template-columns: 1fr 1fr; width: 15.5rem; text-align: center } .head > .actions > :first-child { grid-column: 1 / -1 } .head > .actions .button { display: block; padding-inline: .5rem } .head .menu > summary { display: block } }
.menu { position: relative } .menu > summary, .more > summary { list-style: none } .menu > summary::-webkit-details-marker, .more > summary::-webkit-details-marker { display: none } .menu > :not(summary) { position: absolute; right: 0; z-index: 1; width: 17rem; max-width: calc(100vw - 2rem); margin: .3rem 0; padding: var(--s3) var(--s4); text-align: left; background: var(--page); border: 1px solid var(--quiet); border-radius: var(--round) } .menu ul { list-style: none } .menu li a { display: inline-block; min-height: 1.75rem }
.more { margin: var(--s5) 0 0 }
.place { color: var(--quiet); border: 1px dashed var(--line); border-radius: var(--round); padding: var(--s3) var(--s4); margin: 0 } .place.map { min-height: 2.4rem; padding-block: .2rem } .place.steps { min-height: 20rem }
.drop { border: 2px dashed var(--line); border-radius: var(--round); padding: var(--s2) var(--s4) var(--s4); margin: var(--s4) 0 } .list { max-width: 44rem } .list .drop { border: 0; padding: 0; margin: 0 } .drop.over, .list .drop.over { border-color: var(--link); background: var(--soft) }
progress { width: 100%; height: .8rem; accent-color: var(--link) }

/* Senders that the visitor is asked about. */
.rows-of { list-style: none; padding: 0 } .rows-of form { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s3); align-items: center; padding: .35rem 0; border-bottom: 1px solid var(--line) } .rows-of form > span { flex: 1 1 22rem; min-width: 0 } .rows-of button { min-height: 2.25rem; padding-block: .2rem; font-size: var(--small) }

/* The start page. */
.start { max-width: 52rem } .start h1 { margin-top: var(--s5) }
.can { list-style: none; padding: 0; display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: var(--s3) } .can li { padding: var(--s3) var(--s4); border: 1px solid var(--line); border-radius: var(--round) } .can h3 { margin: 0; font-size: 1rem } .can p { margin: var(--s1) 0 0; font-size: var(--small); color: var(--quiet) }
.rows th:first-child { width: 1% }
#last ul { list-style: none; padding: 0 } #last li { display: flex; flex-wrap: wrap; gap: 0 var(--s3); padding: var(--s1) 0; border-bottom: 1px solid var(--line) } #last b { min-width: 2.2rem } #last time { margin-left: auto; color: var(--quiet) }

/* Places that fill one by one. */
.places { list-style: none; padding: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); gap: var(--s2) }
.places li { display: grid; grid-template-columns: minmax(8rem, 12rem) 1fr; gap: var(--s1) var(--s4); padding: var(--s2) var(--s3); border: 1px solid var(--line); border-radius: var(--round) }
.places .what { font-weight: 600 }
.places .said { min-width: 0; overflow-wrap: anywhere }
.places .done .what::after { content: " ✓"; color: var(--quiet) }

/* A name below the domain of the row before it. */
@media (min-width: 48rem) { td.below { padding-left: 1.6rem } }
/* The service itself: cards beside each other where there is room. */
.wall { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); gap: 0 var(--s4); align-items: start } .wall > .check { margin: var(--s2) 0 } .wall > :not(.check), .wall > :has(.scroll) { grid-column: 1 / -1; min-width: 0 }

/* Monitors, jobs. */
time { white-space: nowrap } time small { color: var(--quiet); font-size: inherit } time small::before { content: " · " } @media (min-width: 48rem) { td time small { display: block } td time small::before { content: "" } }

/* Documents. */
.document { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 var(--s6) } .document > * { grid-column: 1; min-width: 0 }
.document table { font-size: var(--small) } .document h1 { font-size: var(--huge) } .document h2 { padding-top: var(--s2) }
.document section { content-visibility: auto; contain-intrinsic-size: auto 50rem; margin: 0 -.5rem; padding: 0 .5rem } .document section:first-of-type { content-visibility: visible }
.document h3 { margin-top: var(--s5) } .document td, .document th { overflow-wrap: break-word; white-space: normal; min-width: 6rem } .document pre { white-space: pre; overflow-x: auto }
.contents { font-size: var(--small); margin: var(--s3) 0; padding: var(--s2) var(--s4); background: var(--soft); border-radius: var(--round) } .contents ol { list-style: none; margin: 0; padding: 0 } .contents li { padding: .15rem 0 } .contents a { display: inline-block; min-height: 1.5rem; color: var(--quiet); text-decoration: none } .contents a:hover { text-decoration: underline }
@media (min-width: 64rem) { .document.long { grid-template-columns: minmax(0, 1fr) 14rem } .document.long > .contents { grid-column: 2; grid-row: 1 / 999; position: sticky; top: var(--s4); align-self: start; max-height: calc(100vh - 2rem); overflow-y: auto; margin: 0; background: none; border-left: 1px solid var(--line); border-radius: 0 } }
mark { color: inherit; background: var(--warn-bg) } .pages { display: none } .pages p { margin: var(--s3) 0 0; color: var(--quiet); font-size: var(--tiny) } .pages ul { list-style: none; margin: 0; padding: 0 } .pages a { display: inline-block; min-height: 1.5rem; text-decoration: none } .pages [aria-current] { font-weight: 600 } .document .back { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s4); align-items: center } .nextto { display: flex; flex-wrap: wrap; justify-content: space-between; gap: var(--s2) var(--s4); margin-top: var(--s6); padding-top: var(--s3); border-top: 1px solid var(--line) }
@media (min-width: 78rem) { main.document { max-width: 88rem; grid-template-columns: 13rem minmax(0, 1fr) } main.document.long { grid-template-columns: 13rem minmax(0, 1fr) 14rem } main.document > * { grid-column: 2 } main.document.long > .contents { grid-column: 3 } .pages { display: block; grid-column: 1 !important; grid-row: 1 / 999; font-size: var(--small) } }
.index { columns: 2 18rem; list-style: none; padding: 0 } .index li { padding: .2rem 0; break-inside: avoid } .index a { display: inline-block; min-height: 1.5rem }
.found li { margin: var(--s2) 0 }

/* The API reference. */
.operation { display: grid; gap: 0 var(--s6); grid-template-columns: minmax(0, 1fr); padding-block: var(--s4); border-top: 1px solid var(--line); content-visibility: auto; contain-intrinsic-size: auto 60rem; margin: 0 -.5rem; padding-inline: .5rem }
.operation > * { min-width: 0 } .operation h2 { margin-top: var(--s2); font-size: var(--large) } .operation h3 { margin: var(--s4) 0 var(--s2); font-size: 1rem } .operation pre { white-space: pre; overflow: auto; max-height: 34rem }
@media (min-width: 64rem) { .operation { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) } .sample { position: sticky; top: var(--s4); align-self: start } }
.method { display: inline-block; min-width: 3.6rem; padding: 0 .4rem; border: 1px solid currentColor; border-radius: var(--s1); font-size: var(--tiny); font-weight: 600; text-align: center } .get { color: var(--good) } .post, .put, .patch { color: var(--link) } .delete { color: var(--bad) }
.operations, .operations ul { list-style: none; padding: 0; margin: var(--s2) 0 } .operations li { display: grid; grid-template-columns: minmax(0, 24rem) minmax(0, 1fr); gap: 0 var(--s4); padding: var(--s1) 0 } .api-group { display: inline-block; min-height: 1.75rem; line-height: 1.75rem } .operations a { display: inline-block; min-height: 1.5rem; text-decoration: none } nav.operations li { display: block }
.fields { grid-template-columns: minmax(0, 1fr); gap: 0 } .fields dt { color: var(--ink); margin-top: var(--s2); overflow-wrap: anywhere } .fields dd, .fields dd p { margin: 0; font-size: var(--small) } .fields .fields { padding-left: var(--s4); border-left: 2px solid var(--line) } .fields summary { color: var(--quiet) } ul.plain { padding-left: 1rem; font-size: var(--small) }

@media (max-width: 34rem) {
  .operations li { grid-template-columns: minmax(0, 1fr) }
  .top, main, .end { padding-inline: .9rem }
  .top { gap: var(--s1) var(--s2) } .top nav { margin: 0 -.5rem; flex: 1 1 100%; order: 4 } .top nav a, .top nav button { padding: 0 .5rem }
  .home { order: 0; margin-right: auto } .top .box { flex-basis: 100%; max-width: none; order: 3 }
  main { padding-top: var(--s4) }
  .more > .controls, main > .controls { display: grid; grid-template-columns: fit-content(8rem) minmax(0, 1fr) } .more > .controls label:not(.tick), main > .controls label:not(.tick) { display: contents } main > .controls .tick { grid-column: 1 / -1 } .more > .controls label:not(.tick) > *, main > .controls label:not(.tick) > * { width: 100%; max-width: none } .controls button { grid-column: 1 / -1; justify-self: start }
  .rows tr { display: flex; flex-wrap: wrap; gap: 0 var(--s3) } .rows td, .rows td:last-child { padding: 0 } .rows td::before { float: none; margin: 0 var(--s2) 0 0 } .rows td:nth-child(-n + 4)::before { content: none } .rows td:nth-child(1) { color: var(--quiet) } .rows td:nth-child(2) { flex: 1 1 70% } .rows td:nth-child(4) { flex: 1 } .rows td:nth-child(n + 5) { flex: 1 1 100% }
  .document td:not([data-head]) { min-width: 0 } .document td code { overflow-wrap: anywhere }
  .places li { grid-template-columns: 7rem minmax(0, 1fr); gap: var(--s2) }
  .try > form > label:not(.tick) > input { width: 100% } .try label, .stack label:not(.tick) { flex: 1 1 100% } .stack label:not(.tick) > input:not(.short), .stack fieldset label:not(.tick) > input:not(.short), .stack select { width: 100% }
  .large .line { flex-wrap: wrap } .large .line button { width: 100% }
}
@media (prefers-reduced-motion: no-preference) { [aria-busy=true] .places li:not(.done) .said { animation: wait 1.6s ease-in-out infinite alternate } @keyframes wait { to { opacity: .65 } } }
@media print { .document section { content-visibility: visible !important } .bar, .end, .controls, .try, .more, .menu, button, .button, .skip, .contents, .pages, .nextto, .back, main > form, main > footer a { display: none !important } main { max-width: none; min-height: 0; padding: 0 } }
`
