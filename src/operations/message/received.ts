import {
  type MessageAnswer,
  messageAddressAnswer,
  type ReceivedMessageAnswer,
  receivedMessageAnswer,
} from '../../answers/message.ts'
import { parsed, problem } from '../../base/problem.ts'
import { valueProblem } from '../../base/value-problems.ts'
import { receivedMessageDocument } from '../../documents/message.ts'
import { LIFE, type Waiting } from '../../message/inbox.ts'
import { inboxError } from '../../message/problems.ts'
import { ownerOf } from '../../names/owner.ts'
import { formatParam } from '../documents.ts'
import { defineOperation, ok } from '../operation.ts'
import { choiceParam, durationParam, optional, textParam } from '../params.ts'
import { aboutMessage, saveParams } from '../saving.ts'

const DEADLINE_MS = 10_000
const EXAMPLE_ID = 'msg_AAAAAAAAAAAAAAAAAAAAAA'
const ADDRESS = 't-aaaaaaaaaaaaaaaaaaaaaaaaaa@test.example.org'
const EXPIRES = '2026-11-24T09:00:00.000Z'

export const messageAddress = defineOperation({
  name: 'message-address',
  method: 'POST',
  path: '/v1/message/address',
  summary: 'Make a one-time address; the message that comes in is analysed',
  scope: 'read',
  params: {
    expires_in: optional(
      durationParam(
        { minMs: LIFE.least, maxMs: LIFE.most },
        { description: 'how long the address lives', group: 'question', fallback: '24h', example: '1h' },
      ),
    ),
  },
  answer: messageAddressAnswer,
  statuses: { 201: 'the address' },
  example: { input: {}, output: { id: EXAMPLE_ID, address: ADDRESS, expires_at: EXPIRES } },
  deadlineMs: DEADLINE_MS,
  uses: ['messages'],
  followedBy: 'message-received',
  progress: ({ id, address, expires_at }) => progressOf({ id, address, expires_at, state: 'waiting' }),
  run: async (ctx, { messages }, { expires_in }) => {
    const { id, address, expiresAt } = await messages.inbox.create(ownerOf(ctx), expires_in ?? LIFE.most)
    return { status: 201, answer: { id, address, expires_at: new Date(expiresAt).toISOString() } }
  },
})

const idParam = textParam<string>(
  'not_found', // like one that is not there
  (text) =>
    /^msg_[\w-]{22}$/.test(text) ? parsed(text) : problem(valueProblem('id', { text, kind: 'message_address' })),
  { description: 'id of the one-time address', example: EXAMPLE_ID },
)
const example: ReceivedMessageAnswer = { id: EXAMPLE_ID, state: 'waiting', address: ADDRESS, expires_at: EXPIRES }

export const messageReceived = defineOperation({
  name: 'message-received',
  method: 'GET',
  path: '/v1/message/{id}',
  summary: 'Show what came to a one-time address',
  scope: 'read',
  params: { id: idParam, format: formatParam, ...saveParams },
  answer: receivedMessageAnswer,
  document: receivedMessageDocument,
  example: { input: { id: EXAMPLE_ID }, output: example },
  deadlineMs: DEADLINE_MS,
  uses: ['messages'],
  followedBy: 'message-received',
  progress: progressOf,
  verdict: ({ answer }) =>
    answer?.verdict === 'passes' ? 'good' : answer?.verdict === 'needs_repair' ? 'bad' : 'unclear',
  run: async (ctx, { messages }, { id }) => ok(present(await messages.inbox.show(id, ownerOf(ctx)))),
  saves: {
    kind: 'message',
    part: analysisOf,
    about: (received) => aboutMessage(analysisOf(received)),
    add: (received, fields) => ({ ...received, answer: { ...analysisOf(received), ...fields } }),
  },
})

/** The analysis alone is stored, not the address. */
function analysisOf({ answer, state }: ReceivedMessageAnswer): MessageAnswer {
  if (!answer) throw inboxError('not_analysed', { state })
  return answer
}

export const messageEvents = defineOperation({
  name: 'message-events',
  method: 'GET',
  path: '/v1/message/{id}/events',
  summary: 'Stream the state of a one-time address as server-sent events',
  scope: 'read',
  streams: ['events'],
  params: {
    id: idParam,
    format: choiceParam(['events', 'json'], 'events', { description: 'event stream, or the current state' }),
  },
  answer: receivedMessageAnswer,
  document: receivedMessageDocument,
  example: { input: { id: EXAMPLE_ID, format: 'json' }, output: example },
  deadlineMs: LIFE.most + DEADLINE_MS,
  uses: ['messages'],
  run: async (ctx, { messages }, { id, format }) => {
    const owner = ownerOf(ctx)
    // an address that does not exist is a problem, and not a stream
    const now = present(await messages.inbox.show(id, owner))
    if (format === 'json') return ok(now)
    const text = eventsOf(messages.inbox.watch(id, owner, ctx.signal))
    return { status: 200, stream: { contentType: 'text/event-stream; charset=utf-8', text } }
  },
})

/** `state` first and at each change; the last one has the answer, or says that the address has expired. */
async function* eventsOf(changes: AsyncIterable<Waiting>): AsyncIterable<string> {
  for await (const one of changes) yield `event: state\ndata: ${JSON.stringify(present(one))}\n\n`
}

const present = ({ id, address, expiresAt, state, answer }: Waiting): ReceivedMessageAnswer => ({
  id,
  state,
  ...(answer && { answer }),
  address,
  expires_at: new Date(expiresAt).toISOString(),
})

function progressOf({ id, address, expires_at, state, answer }: ReceivedMessageAnswer) {
  const line = {
    waiting: `send a message to ${address} (until ${expires_at})`,
    received: answer ? 'received' : 'received; it is analysed',
    expired: 'the address has expired',
  }[state]
  return { raw: { id }, line, hasEnded: answer !== undefined || state === 'expired' }
}
