import { z } from 'zod'
import { type VerifyAnswer, verifyAnswer } from '../answers/verify.ts'
import { parsed, problem } from '../base/problem.ts'
import { valueProblem } from '../base/value-problems.ts'
import { verifyDocument } from '../documents/verify.ts'
import { presentAttempt, presentVerification } from '../mailbox/present.ts'
import type { MailboxAnswer } from '../mailbox/verification.ts'
import { pastedAddress, readAddress } from '../names/pasted.ts'
import { NODE_ID } from '../names/source.ts'
import { verifyElsewhere } from '../peers/verify-elsewhere.ts'
import { verifyExample } from './examples.ts'
import { defineOperation, ok, type Part } from './operation.ts'
import { flagParam, formatAge, ipParam, maxAgeParam, optional, textParam, timeoutParam, wholeParam } from './params.ts'
import { accessError, questionError } from './problems.ts'
import { mailboxNames, saveParams } from './saving.ts'

const DEFAULT_TIMEOUT_MS = 30_000
/** Additional time for a verification to return its result after its deadline. */
const GRACE_MS = 1_000

const peerParam = textParam<string>(
  'invalid_parameter',
  (text) => (NODE_ID.test(text) ? parsed(text) : problem(valueProblem('node_or_word', { text, word: 'auto' }))),
  {
    description: 'node to verify from: its id, or auto for the best',
    example: 'auto',
    group: 'nodes',
  },
)

/** Whether a mailbox exists, determined at its mail servers without sending a message. */
export const verify = defineOperation({
  name: 'verify',
  method: 'GET',
  path: '/v1/verify',
  summary: 'Verify a mailbox over SMTP; no message is sent',
  scope: 'verify',
  live: true,
  params: {
    email: {
      kind: 'text',
      description: 'e-mail address to verify',
      inUrl: 'in a URL, write + as %2B',
      group: 'question',
      required: true,
      positional: true,
      example: 'joe@example.org',
      pasted: readAddress,
      schema: z.string().transform(pastedAddress),
    },
    bind_ip: { ...optional(ipParam('source address; must be one of this machine')), group: 'source' },
    timeout: timeoutParam('time limit of the verification', DEFAULT_TIMEOUT_MS),
    disposable: flagParam('detect disposable-mail providers', 'answer'),
    free: flagParam('detect free-mail providers', 'answer'),
    pool: flagParam('use the pool of source addresses, with failover', 'source'),
    role: flagParam('detect role addresses', 'answer'),
    suggestion: flagParam('suggest a domain if this one looks mistyped', 'answer'),
    max_age: maxAgeParam,
    peer: optional(peerParam),
    trace: flagParam('add the SMTP transcript', 'answer'),
    mx_port: {
      ...optional(wholeParam('port of the mail hosts, if allowed', { min: 1, max: 65_535 })),
      group: 'source',
    },
    ...saveParams,
  },
  answer: verifyAnswer,
  document: verifyDocument,
  example: verifyExample,
  deadlineMs: DEFAULT_TIMEOUT_MS,
  graceMs: GRACE_MS,
  uses: ['verifier', 'canBind', 'smtpPort', 'peers', 'geo'],
  run: async (ctx, deps, input) => {
    const {
      email,
      bind_ip,
      timeout,
      max_age,
      mx_port,
      trace,
      peer,
      save: _save,
      expires_in: _expires,
      ...flags
    } = input
    if (trace && ctx.caller && !ctx.caller.isAdmin) throw accessError('trace', undefined, { parameter: 'trace' })
    if (peer !== undefined && bind_ip !== undefined)
      throw questionError('bind_ip_and_peer', undefined, { parameter: 'bind_ip' })
    if (mx_port !== undefined && mx_port !== deps.smtpPort)
      throw accessError('mx_port', undefined, { parameter: 'mx_port' })
    if (bind_ip !== undefined && !(await deps.canBind(bind_ip))) {
      throw questionError('bind_ip', { ip: bind_ip }, { parameter: 'bind_ip' })
    }
    const timeoutMs = timeout ?? DEFAULT_TIMEOUT_MS
    const here = async (leftMs: number): Promise<VerifyAnswer> => {
      const verification = await deps.verifier.verify(ctx, {
        email,
        ...flags,
        timeoutMs: leftMs,
        ...(ctx.onPart && { onProgress: progressTo(ctx.onPart) }),
        ...(ctx.caller?.peer !== undefined && { withoutNodes: true }),
        ...(bind_ip === undefined ? {} : { bindIp: bind_ip }),
        ...(max_age === undefined ? {} : { maxAgeMs: max_age }),
      })
      return presentVerification(verification, { trace })
    }
    const query = (): Readonly<Record<string, string | undefined>> => ({
      ...Object.fromEntries(Object.entries(flags).map(([name, value]) => [name, value ? 'true' : undefined])),
      email,
      max_age: max_age === undefined ? undefined : formatAge(max_age),
    })
    return ok(await verifyElsewhere(ctx, deps, { peer, email, pool: flags.pool, query, timeoutMs }, here))
  },
  saves: {
    kind: 'verify',
    about: ({ email, result }) => ({
      subject: email,
      names: mailboxNames(email),
      status: result,
      score: null,
    }),
    add: (answer, fields) => ({ ...answer, ...fields }),
  },
  verdict: ({ deliverability }) =>
    deliverability === 'deliverable' ? 'good' : deliverability === 'unknown' ? 'unclear' : 'bad',
})

/** Reports the mail hosts once they are known, and each attempt at one of them once. */
function progressTo(onPart: (part: Part) => void): (soFar: MailboxAnswer) => void {
  let hostsAreTold = false
  let told = 0
  return ({ mxHosts, attempts }) => {
    if (!hostsAreTold && mxHosts.length > 0) {
      onPart({ check: 'mail_hosts', hosts: mxHosts })
      hostsAreTold = true
    }
    for (const attempt of attempts.slice(told)) onPart({ check: 'attempt', ...presentAttempt(attempt) })
    told = attempts.length
  }
}
