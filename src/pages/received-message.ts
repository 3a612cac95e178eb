import { messageAddressAnswer, type ReceivedMessageAnswer, receivedMessageAnswer } from '../answers/message.ts'
import { ownAnswer } from '../answers/read-answer.ts'
import { sleep } from '../base/deadline.ts'
import { htmlBlocks } from '../documents/html/html.ts'
import { type Html, html, rendered } from './html.ts'
import { pageOf } from './layout.ts'
import type { Page, PageAnswer, PageEvent, Visit } from './page.ts'
import { documentOf, type Parts } from './parts.ts'
import { receivedPath } from './paths.ts'

/** Interval between looks at the address while a page waits, ms. */
const EVERY_MS = 1_000
/** Maximum duration of one stream of events, ms; a browser requests the next one by itself. */
const LONGEST_MS = 10 * 60_000
/** Seconds after which a browser without scripts looks again. */
const AGAIN_SECONDS = 10

/** `/message/{id}`: a one-time address, which waits for its message, and then the analysis. */
export const receivedPages = (parts: Parts): readonly Page[] => [
  {
    method: 'POST',
    path: '/message/address',
    scope: 'read',
    visit: async (visit) => {
      const { answer } = await parts.execute(parts.operation('message-address'), {}, visit.by)
      return { to: receivedPath(ownAnswer(messageAddressAnswer, answer).id) }
    },
  },
  { method: 'GET', path: '/message/:id', scope: 'read', visit: (visit) => show(parts, visit) },
  {
    method: 'GET',
    path: '/message/:id/events',
    scope: 'read',
    visit: async (visit) => ({ events: events(parts, visit, await shownOf(parts, visit)) }),
  },
]

type Shown = { readonly received: ReceivedMessageAnswer; readonly html: Html; readonly footer: Html }

async function shownOf(parts: Parts, { params, by }: Visit): Promise<Shown> {
  const given = await parts.execute(parts.operation('message-received'), { id: params.id }, by)
  const { blocks, footer } = documentOf(parts, given, 'Message')
  return {
    received: ownAnswer(receivedMessageAnswer, given.answer),
    html: rendered(htmlBlocks(blocks)),
    footer: rendered(htmlBlocks(footer.map((line) => ({ kind: 'text', line, quiet: true })))),
  }
}

/** The state of the page: that of the address, and whether the analysis is there. */
const stateOf = ({ state, answer }: ReceivedMessageAnswer): string => (answer ? 'analysed' : state)
const hasEnded = (received: ReceivedMessageAnswer): boolean => ['analysed', 'expired'].includes(stateOf(received))

async function show(parts: Parts, visit: Visit): Promise<PageAnswer> {
  const { received, html: content, footer } = await shownOf(parts, visit)
  const path = receivedPath(received.id)
  const isLive = !hasEnded(received)
  return pageOf(parts, visit, {
    title: received.answer ? 'Message' : 'Waiting for a message',
    ...(isLive && { islands: ['job'], againSeconds: AGAIN_SECONDS }),
    main: html`<main id="main" tabindex="-1"><p class="back"><a href="/message">← Message</a></p>
<div id="progress"${isLive && html` data-events="${path}/events" data-state="${stateOf(received)}"`}>${content}</div>
<p class="quiet" id="state" role="status">${isLive && 'This page shows the result as soon as it is there.'}</p>
<footer>${footer}<p class="quiet"><a href="/v1/message/${received.id}?format=json">The same as JSON</a></p></footer></main>`,
  })
}

/** `progress` at the begin and when the state has changed; the page then loads itself again. */
async function* events(parts: Parts, visit: Visit, first: Shown): AsyncIterable<PageEvent> {
  let shown = first
  let last = ''
  const signal = visit.by.signal ?? new AbortController().signal
  for (let turn = 0; turn * EVERY_MS < LONGEST_MS && !signal.aborted; turn++) {
    const state = stateOf(shown.received)
    if (state !== last) {
      last = state
      yield { event: 'progress', data: { state, html: shown.html.safe, details: '' } }
    }
    if (hasEnded(shown.received)) return
    await sleep(EVERY_MS, signal).catch(() => {})
    if (!signal.aborted) shown = await shownOf(parts, visit)
  }
}
