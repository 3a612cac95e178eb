import type { MonitorKind } from '../answers/monitors.ts'
import { isJsonRecord } from '../base/json.ts'
import type { Block } from '../documents/block.ts'
import { htmlBlocks } from '../documents/html/html.ts'
import { type Answered, type By, inParts, type Told } from '../operations/execute.ts'
import type { Operation, Part, Raw } from '../operations/operation.ts'
import { type Html, html, rendered } from './html.ts'
import { csrfField, layout } from './layout.ts'
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
  /** Small controls above the answer; none where they are among the options below it. */
  readonly controls?: Html
  /** The form of the options with the problem of one of its fields; undefined if it has no such field. */
  readonly refused?: (problem: FieldProblem) => Html | undefined
  /** Content in front of a part of the answer, by the id of its heading. */
  readonly before?: (given: Answered) => Readonly<Record<string, Html>>
  /** The content below an answer. */
  readonly below: (given: Answered, visit: Asker) => Html | Promise<Html>
  /** The kind and target of a monitor for it. */
  readonly watch: { readonly kind: MonitorKind; readonly target: string }
  /** The text of a part in its place. */
  readonly tell: (part: Part) => Html
}

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
  const known = parts.runs.known(keyOf(visit, subject))
  if (known) return page(parts, visit, subject, known.given)
  if (visit.query.wait === 'true') return page(parts, visit, subject, await answerTo(parts, visit, subject))
  return { status: 200, html: layout(parts.assets, visit, asking(parts, subject, visit)) }
}

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
    return { status: 400, html: layout(parts.assets, visit, { title, typed: name, main }) }
  }
}

const page = async (parts: Parts, visit: Visit, subject: Subject, given: Answered): Promise<PageAnswer> => ({
  status: 200,
  html: layout(parts.assets, visit, {
    title: subject.title,
    typed: subject.name,
    islands: ['answer'],
    main: html`<main id="main" tabindex="-1" data-answer="${subject.path}" data-title="${subject.title}">${await answered(parts, subject, given, visit)}</main>`,
  }),
})

function asking(parts: Parts, subject: Subject, visit: Visit) {
  const { title, name, doing, places, path, controls } = subject
  const eventsPath = visit.from === 'unknown' ? withToken(parts, visit, subject) : subject.events
  const whole = pathWith(path.split('?')[0]!, { ...queryOf(path), wait: 'true' })
  return {
    title,
    typed: name,
    islands: ['live', 'answer'],
    withoutScript: whole,
    main: html`<main id="main" tabindex="-1" aria-busy="true" data-live="${eventsPath}" data-answer="${path}" data-title="${title}" data-token="${visit.token}">
<h1>${name}</h1>
<p class="lead" role="status" id="state">${doing}</p>
${controls ?? ''}
<ul class="places">${places.map(
      ({ key, name: label }) =>
        html`<li id="part-${key}"><span class="what">${label}</span> <span class="said quiet">waiting …</span></li>`,
    )}</ul>
<p class="quiet">Parts of the answer appear as they become known. <a href="${whole}">Wait for the whole answer</a> instead.</p></main>`,
  }
}

/** The summary of the answer, which precedes the controls. */
const LEADING: readonly string[] = ['verdict', 'conclusion', 'bars', 'grid'] satisfies Block['kind'][]

/** The answer in the page: the verdict, controls, the rest of the document, further links. */
export async function answered(parts: Parts, subject: Subject, given: Answered, visit: Asker): Promise<Html> {
  const document = documentOf(parts, given, subject.title)
  const first = document.blocks.findIndex(({ kind }) => !LEADING.includes(kind))
  const lead = first < 0 ? document.blocks.length : first
  return html`${rendered(htmlBlocks(document.blocks.slice(0, lead)))}
${subject.controls ?? ''}
${withInserts(document.blocks.slice(lead), subject.before?.(given) ?? {})}
${await subject.below(given, visit)}
${subject.isAsked !== false && keep(subject, visit)}
<footer>${rendered(htmlBlocks(document.footer.map((line) => ({ kind: 'text', line, quiet: true }))))}
<p class="quiet"><a href="${jsonPath(subject)}">The same as JSON</a> · <a href="${pathWith(subject.operation.path, { ...subject.raw, format: 'markdown' })}">as Markdown</a></p></footer>`
}

/** Blocks with content in front of the headings with these ids. */
function withInserts(blocks: readonly Block[], inserts: Readonly<Record<string, Html>>): Html {
  const at = blocks.findIndex((one) => one.kind === 'heading' && one.id !== undefined && Object.hasOwn(inserts, one.id))
  const heading = blocks[at]
  if (heading?.kind !== 'heading' || heading.id === undefined) return rendered(htmlBlocks(blocks, { fold: true }))
  const { [heading.id]: insert, ...others } = inserts
  return html`${rendered(htmlBlocks(blocks.slice(0, at), { fold: true }))}
${insert ?? ''}
${withInserts(blocks.slice(at), others)}`
}

/** The possible lifetimes of a stored answer. */
const KEPT = { '7d': 'a week', '90d': '90 days', '365d': 'a year', '730d': 'two years' }

/** The possible actions on an answer: storing it, and monitoring its subject. */
const keep = ({ path, watch }: Subject, visit: Asker): Html => html`<div class="actions keep">
<form class="controls" method="post" action="${path.replace(/(\?|$)/, '/save$1')}">${csrfField(visit)}<button>Save this answer</button> <label>for <select name="expires_in">${Object.entries(KEPT).map(([value, words]) => html`<option value="${value}"${value === '90d' && html` selected`}>${words}</option>`)}</select></label></form>
${visit.may('jobs') && html`<a class="button second" href="${pathWith('/monitors', watch)}#add">Monitor it</a>`}</div>`

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

const jsonPath = ({ operation, raw }: Subject): string => pathWith(operation.path, { ...raw, format: 'json' })

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
