import { z } from 'zod'
import { objectSchema } from '../operations/openapi.ts'
import type { Operation, Raw } from '../operations/operation.ts'

/** An operation as a tool of the Model Context Protocol. */
export type Tool = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly operation: Operation
}

type ToolFacts = Omit<Tool, 'operation'> & {
  /** Parameters that an assistant does not get: forms of the answer, and the operator's parameters. */
  readonly without: readonly string[]
}

const OUTPUT_PARAMS = ['format', 'save', 'expires_in', 'vantage']

/** The operations that are tools, by their name. */
const TOOLS: Readonly<Record<string, ToolFacts>> = {
  check: {
    name: 'check',
    title: 'Check the mail setup of a domain',
    description:
      'Looks up SPF, DKIM, DMARC, MX, PTR, MTA-STS, TLS-RPT, DANE, DNSSEC, BIMI, CAA, NS and SOA of a domain. Returns a score in which every point is explained, findings with the record that fixes each, and `unknown` with the reason for what could not be determined. Queries the DNS and the policy host of MTA-STS; connects to mail hosts only with `starttls`.',
    without: OUTPUT_PARAMS,
  },
  verify: {
    name: 'verify',
    title: 'Verify a mailbox over SMTP',
    description:
      'Asks the mail server of an address whether it would accept mail for it; no message is sent. `result` is what the server did, `reason` why. `blocked` and `unreachable` mean nothing for the mailbox. Verify only addresses that the user has a reason to verify, one at a time.',
    without: [...OUTPUT_PARAMS, 'trace', 'bind_ip', 'mx_port', 'peer', 'reuse'],
  },
  blacklist: {
    name: 'blacklist',
    title: 'Look an IP address up on 29 blacklists',
    description:
      'Queries 29 DNS blacklists for an IPv4 or IPv6 address. A list that refused or did not answer means neither listed nor clean: `answered` counts the lists with a reliable answer.',
    without: OUTPUT_PARAMS,
  },
  report: {
    name: 'report',
    title: 'Report on a domain and the listings of its mail hosts',
    description:
      'Checks a domain, and looks up each address of its mail hosts on the blacklists. Takes a domain or an e-mail address.',
    without: OUTPUT_PARAMS,
  },
  'what-if': {
    name: 'what_if',
    title: 'Judge a domain as if records were published',
    description:
      'Judges DNS records before they are published: score, findings and addresses that pass SPF, now and with the records. Give `records` ({"name", "type", "value"}) or the text of a `zone` file. Publishes nothing.',
    without: OUTPUT_PARAMS,
  },
}

/** The tools among `operations`, in the order of the table. */
export const toolsOf = (operations: readonly Operation[]): readonly Tool[] =>
  Object.entries(TOOLS).flatMap(([of, { without: _without, ...facts }]) => {
    const operation = operations.find(({ name }) => name === of)
    return operation ? [{ ...facts, operation }] : []
  })

/** JSON Schema of a tool's input. */
export const inputSchemaOf = ({ operation }: Tool): Readonly<Record<string, unknown>> => ({
  ...objectSchema(offered(operation)),
  additionalProperties: false,
})

const offered = ({ name, params }: Operation) =>
  Object.entries(params).filter(([param]) => !TOOLS[name]?.without.includes(param))

/** JSON Schema of a tool's answer: the answer of its operation over HTTP, to which a later version may add fields. */
export function outputSchemaOf({ operation }: Tool): Readonly<Record<string, unknown>> {
  const schema: Readonly<Record<string, unknown>> = z.toJSONSchema(operation.answer, { io: 'output' })
  return opened(schema)
}

function opened(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const entries = Object.entries(schema).filter(([key, value]) => key !== 'additionalProperties' || value !== false)
  return Object.fromEntries(entries.map(([key, value]) => [key, openedValue(value)]))
}

function openedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(openedValue)
  return isObject(value) ? opened(value) : value
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The arguments of a call as parameters: assistants write numbers and booleans where parameters are text. Lists and
 * objects stay.
 */
export const rawOf = (args: Readonly<Record<string, unknown>>): Raw =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      typeof value === 'number' || typeof value === 'boolean' ? String(value) : value,
    ]),
  )

/** Parameters of a call that its tool does not offer. */
export function notOffered({ operation }: Tool, args: Readonly<Record<string, unknown>>): string | undefined {
  const known = new Set(offered(operation).map(([name]) => name))
  return Object.keys(args).find((name) => !known.has(name))
}
