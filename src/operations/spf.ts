import { type SpfAnswer, spfAnswer } from '../answers/questions.ts'
import { type Parsed, parsed, problem } from '../base/problem.ts'
import { remembering } from '../checks/repeatable.ts'
import { checkHost, presentCheckHost } from '../checks/spf/index.ts'
import { spfDocument } from '../documents/spf.ts'
import { formatEmail } from '../names/email.ts'
import { readAddress } from '../names/pasted.ts'
import { defineOperation, ok } from './operation.ts'
import { ipParam, orEmpty, textParam, timeoutParam } from './params.ts'
import { inputError, paramProblem } from './problems.ts'

/** Whether an address may send for a domain: `check_host` of RFC 7208. */
export const spf = defineOperation({
  name: 'spf',
  method: 'GET',
  path: '/v1/spf',
  summary: 'Evaluate SPF for an IP address and sender (RFC 7208)',
  scope: 'read',
  params: {
    ip: ipParam('address of the sending host'),
    sender: orEmpty(
      textParam('invalid_parameter', parseSender, {
        description: 'MAIL FROM address; empty for a bounce',
        example: 'joe@example.org',
      }),
    ),
    helo: orEmpty(
      textParam('invalid_parameter', parseHelo, {
        description: 'HELO or EHLO name',
        example: 'mail.example.org',
      }),
    ),
    timeout: timeoutParam('time limit of the query'),
  },
  answer: spfAnswer,
  document: spfDocument,
  example: {
    input: { ip: '192.0.2.1', sender: 'joe@example.org' },
    output: {
      result: 'pass',
      mechanism: 'mx',
      lookups: 1,
      void_lookups: 0,
      trace: [{ domain: 'example.org', term: 'mx', outcome: 'match' }],
      domain: 'example.org',
    },
  },
  uses: [],
  run: async (ctx, _deps, { ip, sender, helo }) => {
    if (sender === '' && helo === '') throw inputError('sender_missing', undefined, { parameter: 'sender' })
    return ok(presentCheckHost(await checkHost(remembering(ctx), { ip, sender, helo })))
  },
  verdict: ({ result }) => (BAD.has(result) ? 'bad' : result === 'temperror' ? 'unclear' : 'good'),
})

/** Results after which a receiver may refuse the message (RFC 7208 §8.4, §8.5, §8.7). */
const BAD: ReadonlySet<SpfAnswer['result']> = new Set<SpfAnswer['result']>(['fail', 'softfail', 'permerror'])

/**
 * A reverse-path: an address, a bare domain, or nothing. How SPF evaluates an unusual one is specified there (RFC 7208
 * §4.3).
 */
export function parseSender(text: string): Parsed<string> {
  const read = readAddress(text)
  if (read.ok && read.value.taken.length > 0) return parsed(formatEmail(read.value.value))
  const bare = text.replace(/^<(.*)>$/, '$1')
  if (bare.length > 320) return problem(paramProblem('sender_too_long', { max: 320 }))
  return /[\u0000-\u0020\u007f<>]/.test(bare) ? problem(paramProblem('sender')) : parsed(bare)
}

export function parseHelo(text: string): Parsed<string> {
  if (text.length > 255) return problem(paramProblem('helo_too_long', { max: 255 }))
  return /[\u0000-\u0020\u007f]/.test(text) ? problem(paramProblem('helo')) : parsed(text)
}
