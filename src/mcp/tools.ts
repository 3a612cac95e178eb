import { objectSchema } from '../operations/openapi.ts'
import type { Operation } from '../operations/operation.ts'

/** An operation as a tool of the Model Context Protocol. */
export type Tool = ToolFacts & { readonly operation: Operation }

type ToolFacts = {
  readonly name: string
  readonly title: string
  readonly description: string
  /** The parameters that an assistant has: no form of the answer, and none of the operator. */
  readonly params: readonly string[]
  /** The parameter that is the body of the request. */
  readonly body?: { readonly name: string; readonly description: string }
}

const PERIOD = ['domain', 'from', 'to'] as const

/** The operations that are tools, by their name. All of them only read. */
const TOOLS: Readonly<Record<string, ToolFacts>> = {
  check: {
    name: 'check',
    title: 'Check the mail setup of a domain',
    description:
      'Looks up SPF, DKIM, DMARC, MX, PTR, MTA-STS, TLS-RPT, DANE, DNSSEC, BIMI, CAA, NS and SOA of a domain: grade and score, the path to a better grade with the record of each step, and what is wrong with each check. Connects to mail hosts only with `starttls`.',
    params: ['domain', 'selector', 'starttls', 'profile'],
  },
  report: {
    name: 'report',
    title: 'Check a domain and the listings of its mail hosts',
    description: 'A check, and each address of the mail hosts on 29 blacklists.',
    params: ['domain', 'selector', 'profile'],
  },
  plan: {
    name: 'plan',
    title: 'What to publish for a domain, in which order',
    description:
      'The steps from the present grade to the best one: each with its records, who must do it, what must be done first, what to wait for, and the measured score after it. Use it, and not own records, to tell what to publish.',
    params: ['domain', 'selector', 'profile'],
  },
  'what-if': {
    name: 'what_if',
    title: 'Judge a domain as if records were published',
    description:
      'Score, findings and addresses that pass SPF, now and with records that are not published. Give `records` ({"name", "type", "value"}) or the text of a `zone` file.',
    params: ['domain', 'records', 'zone'],
  },
  message: {
    name: 'message',
    title: 'Why a message passes, fails or bounced',
    description:
      'Takes apart a message with its header, a bounce, or one pasted reply of a mail server: SPF, DKIM, DMARC and ARC, the cause of each failure, and who must do what.',
    params: ['ip', 'helo', 'mail_from', 'received_by'],
    body: {
      name: 'message',
      description:
        'the message as it was received (at least its whole header), a bounce, or a reply such as "550 5.7.1 …"',
    },
  },
  verify: {
    name: 'verify',
    title: 'Verify a mailbox over SMTP',
    description:
      'Asks the mail server of an address whether it would accept mail for it; no message is sent. `blocked` and `unreachable` mean nothing for the mailbox. Verify only addresses that the user has a reason to verify, one at a time.',
    params: ['email', 'max_age'],
  },
  blacklist: {
    name: 'blacklist',
    title: 'Look an IP address up on 29 blacklists',
    description:
      'A list that refused or did not answer means neither listed nor clean: `answered` counts the lists with a reliable answer.',
    params: ['ip'],
  },
  'reports senders': {
    name: 'senders',
    title: 'Who sends as a domain',
    description:
      'From the DMARC reports that this service has read: each sender by name, its share, how much of it passes, and what to do.',
    params: [...PERIOD, 'verdict', 'limit', 'cursor'],
  },
  'reports policy': {
    name: 'policy_trial',
    title: 'What a DMARC policy would do to the mail of a domain',
    description: 'From the DMARC reports: the messages of each sender that `policy` would refuse or put into junk.',
    params: [...PERIOD, 'policy'],
  },
  'reports tls': {
    name: 'tls_reports',
    title: 'Failures of TLS that senders reported for a domain',
    description: 'From the TLS reports (RFC 8460): sessions that failed, by cause and host, with what to do.',
    params: [...PERIOD],
  },
  'monitors list': {
    name: 'monitors',
    title: 'The monitors, with grade, worst finding and state',
    description:
      'Filters: state, grade, finding (its id), label, accepted (with a finding that somebody accepted), profile_not_met (a profile), q (a part of the name). Sorted by score or worst first on demand.',
    params: ['state', 'grade', 'finding', 'label', 'accepted', 'profile_not_met', 'q', 'sort', 'limit', 'cursor'],
  },
  'monitors changes': {
    name: 'monitor_changes',
    title: 'What changed at a monitored target, newest first',
    description: 'Takes the id of a monitor (tool `monitors`).',
    params: ['id', 'limit', 'cursor'],
  },
}

/** The tools among `operations`, in the order of the table. */
export const toolsOf = (operations: readonly Operation[]): readonly Tool[] =>
  Object.entries(TOOLS).flatMap(([of, facts]) => {
    const operation = operations.find(({ name }) => name === of)
    return operation ? [{ ...facts, operation }] : []
  })

/** The parameter of every tool that continues a long answer. */
export const FROM_LINE = 'from_line'

/** JSON Schema of a tool's input: its parameters, in the order of its table. */
export function inputSchemaOf({ operation, params, body }: Tool): Readonly<Record<string, unknown>> {
  const offered = params.flatMap((name) => (operation.params[name] ? [[name, operation.params[name]] as const] : []))
  const {
    properties,
    required = [],
    ...schema
  } = objectSchema(offered) as {
    readonly properties: Readonly<Record<string, unknown>>
    readonly required?: readonly string[]
  }
  return {
    ...schema,
    properties: {
      ...(body && { [body.name]: { type: 'string', description: body.description } }),
      ...properties,
      [FROM_LINE]: { type: 'integer', minimum: 1, description: 'the line of a long answer at which to go on' },
    },
    required: [...(body ? [body.name] : []), ...required],
    additionalProperties: false,
  }
}

/** A parameter of a call that its tool does not offer. */
export function notOffered({ params, body }: Tool, args: Readonly<Record<string, unknown>>): string | undefined {
  const known = new Set([...params, FROM_LINE, ...(body ? [body.name] : [])])
  return Object.keys(args).find((name) => !known.has(name))
}
