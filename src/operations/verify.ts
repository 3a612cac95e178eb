import { z } from 'zod'
import { AppError } from '../base/errors.ts'
import { presentVerification } from '../mailbox/present.ts'
import { verifyAnswer } from './answers.ts'
import { verifyExample } from './examples.ts'
import { defineOperation } from './operation.ts'
import { durationParam, flagParam, ipParam, maxAgeParam, TIMEOUT, wholeParam } from './params.ts'

/** Time that a verification has when none is given, ms. */
const DEFAULT_TIMEOUT_MS = 30_000
/** What is found is handed over at the deadline: the answer is waited for this much longer. */
const GRACE_MS = 1_000

/** Whether a mailbox exists, asked of its mail servers without sending anything. */
export const verify = defineOperation({
  name: 'verify',
  method: 'GET',
  path: '/v1/verify',
  summary: 'Whether a mailbox exists, by SMTP and without sending anything',
  scope: 'verify',
  positional: ['email'],
  input: z.object({
    email: z.string().meta({ description: 'e-mail address to verify', examples: ['joe@example.org'] }),
    bind_ip: ipParam('source address; must be one of this machine').optional(),
    timeout: durationParam('time for everything; 1s to 5m, default 30s', TIMEOUT).optional(),
    disposable: flagParam('look for disposable-mail providers'),
    free: flagParam('look for free-mail providers'),
    pool: flagParam('use the pool of source addresses, with failover'),
    role: flagParam('look for role addresses'),
    suggestion: flagParam('suggest another domain when this one looks mistyped'),
    max_age: maxAgeParam.optional(),
    trace: flagParam('add the SMTP transcript'),
    mx_port: wholeParam('port of the mail servers; only where the operator allowed it', {
      min: 1,
      max: 65_535,
    }).optional(),
  }),
  output: verifyAnswer,
  example: verifyExample,
  deadlineMs: DEFAULT_TIMEOUT_MS,
  graceMs: GRACE_MS,
  run: async (ctx, deps, input) => {
    const { email, bind_ip, timeout, max_age, mx_port, trace, ...flags } = input
    if (mx_port !== undefined && mx_port !== deps.smtpPort)
      throw new AppError('forbidden', 'mx_port is allowed only where the operator set --smtp-port to it', {
        parameter: 'mx_port',
      })
    if (bind_ip !== undefined && !(await deps.canBind(bind_ip))) {
      throw new AppError('bind_ip_not_local', `${bind_ip} is not an address that this machine can bind`, {
        parameter: 'bind_ip',
      })
    }
    const verification = await deps.verifier.verify(ctx, {
      email: email.trim(),
      ...flags,
      timeoutMs: timeout ?? DEFAULT_TIMEOUT_MS,
      ...(bind_ip === undefined ? {} : { bindIp: bind_ip }),
      ...(max_age === undefined ? {} : { maxAgeMs: max_age }),
    })
    return presentVerification(verification, { trace })
  },
  verdict: ({ deliverability }) =>
    deliverability === 'deliverable' ? 'good' : deliverability === 'unknown' ? 'unclear' : 'bad',
})
