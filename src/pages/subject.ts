import type { MonitorKind } from '../answers/monitors.ts'
import { isJsonRecord } from '../base/json.ts'
import { htmlBlocks } from '../documents/html/html.ts'
import { type Answered, type By, inParts, type Told } from '../operations/execute.ts'
import type { Operation, Part, Raw } from '../operations/operation.ts'
import { type Html, html, rendered } from './html.ts'
import { csrfField, layout, pageOf } from './layout.ts'
import type { Page, PageAnswer, PageEvent, Visit } from './page.ts'
import { documentOf, type FieldProblem, isCorrectable, type Parts, refusedWords } from './parts.ts'
import { pathWith } from './paths.ts'
import { pageError } from './problems.ts'

/** The subject of a page: its question, and the texts around the answer. */
export type Subject = {
  readonly operation: Operation
  readonly raw: Raw
  /** The subject in one line: a domain, an address. */
  readonly name: string
  readonly title: string
  /** The work in progress, as a sentence. */
  readonly doing: string
  /** Places that are filled one by one, by the name of the part. */
  readonly places: readonly { readonly key: string; readonly name: string }[]
  /** The path of the page itself, with its query. */
  readonly path: string
  /** The path of its events. */
  readonly events: string
  /** False: the answer follows from the text alone, so it is not asked again, stored or watched. */
  readonly isAsked?: boolean
  /** What the answer rests on beside the DNS: where it is another one, a cached answer is not shown. */
  readonly restsOn?: (visit: Asker) => Promise<unknown>
  /** Where the question is asked anew, without cached answers; by default the path of the page. */
  readonly again?: string
  /** The form of the options with the problem of one of its fields; undefined if it has no such field. */
  readonly refused?: (problem: FieldProblem) => Html | undefined
  /** What the page looks like before the answer: places of the size of what comes, above those of the parts. */
  readonly skeleton?: Html
  /** Further links beside the answer, and files that it can be had as. */
  readonly links?: (given: Answered) => { readonly ways?: Html; readonly files?: readonly FileLink[] }
  /** The content below an answer. */
  readonly below: (given: Answered, visit: Asker) => Html | Promise<Html>
  readonly watch: { readonly kind: MonitorKind; readonly target: string }
  /** The text of a part in its place. */
  readonly tell: (part: Part) => Html
}

/** A form of the answer, and where it is. */
export type FileLink = readonly [name: string, href: string]

/** The data about the visitor for the texts around an answer. */
export type Asker = Pick<Visit, 'token' | 'may' | 'by'>

type SubjectOf = (visit: Visit) => Subject

/** The pages of one kind of subject: the page, and the events that fill it. */
export const subjectPages = (parts: Parts, path: string, scope: 'read' | 'verify', of: SubjectOf): readonly Page[] => [
  {
    method: 'GET',
    path,
    scope,
    asks: (visit) => {
      const { title, name } = of(visit)
      return { title, typed: name, button: `Check ${name}` }
    },
    visit: async (visit) => show(parts, visit, of(visit)),
  },
  {
    method: 'GET',
    path: `${path}/events`,
    scope,
    visit: async (visit) => ({ events: streamOf(parts, visit, of(visit)) }),
  },
  { method: 'POST', path: `${path}/save`, scope, visit: async (visit) => save(parts, visit, of(visit)) },
]

async function show(parts: Parts, visit: Visit, subject: Subject): Promise<PageAnswer> {
  const refusal = refused(parts, visit, subject)
  if (refusal) return refusal
  const key = keyOf(visit, subject)
  const known = parts.runs.known(key)
  const isAgain = visit.query.again === 'true'
  if (known && !isAgain && (await isCurrent(subject, known.given, visit)))
    return page(parts, visit, subject, known.given)
  parts.runs.forget(key)
  if (isAgain) return { to: subject.path }
  if (visit.query.wait === 'true') return page(parts, visit, subject, await answerTo(parts, visit, subject))
  return { status: 200, html: layout(parts.assets, visit, asking(parts, subject, visit)) }
}

/** What an answer rested on beside the DNS when it was shown. */
const restedOn = new WeakMap<Answered, unknown>()

const isCurrent = async ({ restsOn }: Subject, given: Answered, visit: Asker): Promise<boolean> =>
  !restsOn || !restedOn.has(given) || restedOn.get(given) === (await restsOn(visit))

/** Invalid input is reported at once: an option beside its field, anything else as a page of its own. */
function refused(
  parts: Parts,
  visit: Visit,
  { operation, raw, name, title, refused: form }: Subject,
): PageAnswer | undefined {
  try {
    operation.ask(raw)
    return undefined
  } catch (error) {
    if (!isCorrectable(error)) throw error
    const options = form?.({ field: error.parameter, words: refusedWords('Not checked', error) })
    if (options === undefined) throw error
    const main = html`<main id="main" tabindex="-1"><h1>${name}</h1>${options}</main>`
    return pageOf(parts, visit, { status: 400, title, typed: name, main })
  }
}

const page = async (parts: Parts, visit: Visit, subject: Subject, given: Answered): Promise<PageAnswer> =>
  pageOf(parts, visit, {
    title: subject.title,
    typed: subject.name,
    islands: ['answer'],
    main: html`<main id="main" tabindex="-1" data-answer="${subject.path}" data-title="${subject.title}">${await answered(parts, subject, given, visit)}</main>`,
  })

function asking(parts: Parts, subject: Subject, visit: Visit) {
  const { title, name, doing, places, path, skeleton } = subject
  const eventsPath = visit.from === 'unknown' ? withToken(parts, visit, subject) : subject.events
  const whole = pathWith(path.split('?')[0]!, { ...queryOf(path), wait: 'true' })
  return {
    title,
    typed: name,
    islands: ['live', 'answer'],
    withoutScript: whole,
    main: html`<main id="main" tabindex="-1" aria-busy="true" data-live="${eventsPath}" data-answer="${path}" data-title="${title}" data-token="${visit.token}">
${verdictPlace(name, doing, skeleton !== undefined)}
${skeleton ?? ''}
<ul class="places">${places.map(
      ({ key, name: label }) =>
        html`<li id="part-${key}"><span class="what">${label}</span> <span class="said quiet">waiting …</span></li>`,
    )}</ul>
<p class="quiet">Parts of the answer appear as they become known. <a href="${whole}">Wait for the whole answer</a> instead.</p></main>`,
  }
}

/** The name and what is being done; `isGraded`: beside the place of a grade. */
const verdictPlace = (name: string, doing: string, isGraded: boolean): Html => {
  const words = html`<h1>${name}</h1>\n<p class="lead" role="status" id="state">${doing}</p>`
  return isGraded
    ? html`<div class="head waits"><header><div class="verdict"><div class="score open" aria-hidden="true"><p><b>…</b><span>grade</span></p><p><b>…</b><span>of 100</span></p></div><div>${words}</div></div></header></div>`
    : words
}

/** The answer in the page: the verdict with the actions beside it, the rest of the document, what else can be tried. */
export async function answered(parts: Parts, subject: Subject, given: Answered, visit: Asker): Promise<Html> {
  const { blocks, footer } = documentOf(parts, given, subject.title)
  if (subject.restsOn && !restedOn.has(given)) restedOn.set(given, await subject.restsOn(visit))
  const isSummary = blocks[0]?.kind === 'verdict' || blocks[0]?.kind === 'conclusion'
  const lead = isSummary ? 1 : 0
  return html`<div class="head">${rendered(htmlBlocks(blocks.slice(0, lead)))}
${subject.isAsked !== false && actions(subject, given, visit)}</div>
${rendered(htmlBlocks(blocks.slice(lead)))}
${await subject.below(given, visit)}
<footer>${rendered(htmlBlocks(footer.map((line) => ({ kind: 'text', line, quiet: true }))))}</footer>`
}

/** The possible lifetimes of a stored answer. */
const KEPT = { '7d': 'a week', '90d': '90 days', '365d': 'a year', '730d': 'two years' }

/** The possible actions on an answer: watching its subject, storing it for others, taking it along, asking again. */
function actions({ path, again = path, watch, operation, raw, links }: Subject, given: Answered, visit: Asker): Html {
  const { ways = html``, files = [] } = links?.(given) ?? {}
  const forms: readonly FileLink[] = [
    ...files,
    ['Markdown', pathWith(operation.path, { ...raw, format: 'markdown' })],
    ['one HTML file', pathWith(operation.path, { ...raw, format: 'html' })],
    ['JSON, from the API', pathWith(operation.path, { ...raw, format: 'json' })],
  ]
  return html`<div class="actions">${visit.may('jobs') && html`<a class="button" href="${pathWith('/monitors', watch)}#add">Watch</a>`}
<details class="menu" name="menu"><summary class="button second">Share</summary><form class="controls" method="post" action="${path.replace(/(\?|$)/, '/save$1')}">${csrfField(visit)}<label>Keep this answer for <select name="expires_in">${Object.entries(KEPT).map(([value, words]) => html`<option value="${value}"${value === '90d' && html` selected`}>${words}</option>`)}</select></label> <button>Make a link</button></form></details>
<details class="menu" name="menu"><summary class="button second">Export</summary><ul>${forms.map(([name, href]) => html`<li><a href="${href}">${name}</a></li>`)}</ul></details>
${ways}<a class="button second" href="${pathWith(again.split('?')[0]!, { ...queryOf(again), again: 'true' })}">Check again</a></div>`
}

/** What else can be asked about a subject, behind one button below its answer. */
export const otherOptions = (words: string, ...forms: readonly Html[]): Html =>
  html`<details class="more" id="more"><summary class="button second">${words}</summary>${forms}</details>`

/**
 * Answers the question again and stores the answer; a recent answer comes from the cache. Redirects to the stored
 * answer.
 */
async function save(parts: Parts, visit: Visit, { operation, raw }: Subject): Promise<PageAnswer> {
  const { expires_in } = visit.form
  const given = await parts.execute(operation, { ...raw, save: 'true', ...(expires_in && { expires_in }) }, visit.by)
  const saved = isJsonRecord(given.answer) ? given.answer.saved : undefined
  if (!isJsonRecord(saved) || typeof saved.url !== 'string') throw new Error('the answer was not stored')
  return { to: saved.url }
}

const queryOf = (path: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(path.split('?')[1] ?? ''))

const keyOf = ({ who }: Visit, { operation, raw }: Subject): string =>
  JSON.stringify([who, operation.name, Object.entries(raw).toSorted()])

/** The events of the question; shared with the page's other visits. */
function follow(parts: Parts, visit: Visit, subject: Subject): AsyncIterable<Told> {
  const { operation, raw } = subject
  const { caller, signal } = visit.by
  const by = (own: AbortSignal): By => ({ signal: own, ...(caller && { caller }) })
  return parts.runs.follow(
    keyOf(visit, subject),
    (own) => inParts(parts.execute, operation, raw, by(own)),
    signal ?? new AbortController().signal,
  )
}

async function answerTo(parts: Parts, visit: Visit, subject: Subject): Promise<Answered> {
  for await (const one of follow(parts, visit, subject)) {
    if (one.kind === 'answer') return one.given
    if (one.kind === 'error') throw one.error
  }
  throw pageError('no_answer')
}

const withToken = ({ streams }: Parts, visit: Visit, subject: Subject): string => {
  const [path = '', query = ''] = subject.events.split('?')
  return pathWith(path, {
    ...Object.fromEntries(new URLSearchParams(query)),
    token: streams.issue(keyOf(visit, subject)),
  })
}

/**
 * The events for a page of this service. Throws AppError `forbidden` for any other reader: a stream starts a question.
 */
function streamOf(parts: Parts, visit: Visit, subject: Subject): AsyncIterable<PageEvent> {
  const use = visit.from === 'unknown' ? parts.streams.use(visit.query.token, keyOf(visit, subject)) : visit.from
  const isAllowed = use === 'own' || use === 'starts' || (use === 'follows' && parts.runs.has(keyOf(visit, subject)))
  if (!isAllowed) throw pageError('foreign_stream')
  return events(parts, visit, subject)
}

/** `part` with the text for its place, `answer` with the complete answer, `failed` with the error. */
async function* events(parts: Parts, visit: Visit, subject: Subject): AsyncIterable<PageEvent> {
  for await (const one of follow(parts, visit, subject)) {
    if (one.kind === 'part') yield { event: 'part', data: { check: one.part.check, html: subject.tell(one.part).safe } }
    if (one.kind === 'answer')
      yield { event: 'answer', data: { html: (await answered(parts, subject, one.given, visit)).safe } }
    if (one.kind === 'error') yield { event: 'failed', data: { html: parts.faultInWords(one.error).safe } }
  }
}
