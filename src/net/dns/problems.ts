import { type Problem, problemsOf, quoted, type Sentence, shown } from '../../base/problem.ts'

type Text = { text: string }
type Max = { max: number }
/** What is wrong with a record that a person wrote, or with its data. */
export const recordProblem = problemsOf('record', {
  too_long: ({ max }: Max) => `the value is longer than ${max} characters`,
  empty: () => 'the value is empty',
  line: ({ text }: Text) =>
    `${quoted(text, 40)} is not a record: write name, type and value, such as _dmarc TXT "v=DMARC1; p=none"`,
  no_value: ({ text }: Text) => `${quoted(text, 40)} has no type and value`,
  type: ({ text, known }: Text & { known: readonly string[] }) =>
    `the type ${quoted(text, 40)} is not one of ${known.join(', ')}`,
  name: ({ text }: Text) => `${quoted(text, 40)} is not a name; write non-ASCII labels as xn--…`,
  name_blank: ({ text }: Text) => `${quoted(text, 40)} is not a name: it has white space in it`,
  name_url: ({ text, host }: Text & { host: string }) =>
    `${quoted(text, 40)} is a URL: write the name of the record, such as ${shown(host, 80)}`,
  name_length: ({ text }: Text) =>
    `${quoted(text, 40)} is not a name: a label is empty or longer than 63 octets, or the name is longer than 253`,
  /** `shape` is what the data of the type must be, in words. */
  shape: ({ type, shape }: { type: string; shape: string }) => `${type} data is ${shown(shape, 200)}`,
  caa_tag: ({ text }: Text) => `${quoted(text, 40)} is not a CAA tag`,
  base64: () => 'the key is not base64',
  soa_number: ({ text }: Text) => `${quoted(text, 40)} is not a number of the SOA record`,
  octet: ({ text }: Text) => `${shown(text, 10)} is not an octet: write \\000 to \\255`,
  backslash: () => 'the text ends with a backslash',
  long_string: ({ count }: { count: number }) =>
    `a text of ${count} octets: a string has at most 255; write several strings in quotes`,
  long_data: ({ max }: Max) => `the data is longer than ${max} octets`,
  family: ({ text, version }: Text & { version: 4 | 6 }) => `${quoted(text, 40)} is not an IPv${version} address`,
  number: ({ text, max }: Text & Max) => `${quoted(text, 40)} is not a number from 0 to ${max}`,
  hexadecimal: ({ text }: Text) => `${quoted(text, 40)} is not hexadecimal`,
})

/** What is wrong with a zone file. */
export const zoneProblem = problemsOf('zone', {
  too_long: ({ max }: Max) => `the zone is longer than ${max} characters`,
  at: ({ line, why }: { line: number; why: Problem }, say) => `line ${line}: ${say(why)}`,
  too_many: ({ max }: Max) => `more than ${max} records`,
  no_owner: () => 'a record without a name, with no record before it',
  ttl: () => '$TTL requires a time, such as 3600 or 1h',
  directive: ({ text }: Text) => `${quoted(text, 40)} is not supported; only $ORIGIN and $TTL are`,
  origin: () => '$ORIGIN requires a name',
  class: ({ text }: Text) => `the class ${quoted(text, 40)} is not IN`,
  no_type: () => 'the type is missing',
  close: () => 'a ")" without a "("',
  nested: () => 'nested parentheses',
  fields: ({ max }: Max) => `more than ${max} fields in one entry`,
  open: () => 'a "(" that is never closed',
  quote: () => 'a quote that is not closed on the same line',
  line_backslash: () => 'a backslash at the end of a line',
  /** `code` as U+0007. */
  character: ({ code }: { code: string }) => `the character ${shown(code, 10)} has no meaning here`,
})

/** Why octets are not a DNS message. */
export const messageProblem = problemsOf('dns_message', {
  short: () => 'shorter than a DNS header',
  questions: () => 'more than one question',
  question: () => 'the question cannot be read',
  answer: () => 'an answer record cannot be read',
  authority: () => 'an authority record cannot be read',
  additional: () => 'an additional record cannot be read',
})

/** What is wrong with the address of a DNS server. */
export const serverProblem = problemsOf('dns_server', {
  invalid: ({ text }: Text) =>
    `${quoted(text, 80)} is not a DNS server: write 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:5353`,
  no_address: ({ text }: Text) => `this machine knows no address of the resolver ${quoted(text, 80)}`,
  port: ({ text }: Text) => `the port of ${quoted(text, 80)} is not between 1 and 65535`,
})

/** A question without an answer; `server` as address:port, and the first extended error (RFC 8914). */
type Unanswered = {
  name: string
  type: string
  server?: string | undefined
  ede?: number | undefined
  text?: string | undefined
}

const unanswered =
  (what: string): Sentence<Unanswered> =>
  ({ name, type, server, ede, text }) => {
    const at = server ? ` at ${shown(server, 60)}` : ''
    const extended = ede === undefined ? '' : ` [EDE ${ede}${text ? `: ${shown(text, 256)}` : ''}]`
    return `${shown(name || '.', 400)} ${shown(type, 20)}${at}: ${what}${extended}`
  }

/** Why a question has no answer, by the reason of the error. */
export const dnsProblem = problemsOf('dns', {
  servfail: unanswered('the lookup failed (SERVFAIL)'),
  refused: unanswered('the resolver refused the query (REFUSED)'),
  formerr: unanswered('the server did not understand the query (FORMERR)'),
  notimp: unanswered('the server does not support the query (NOTIMP)'),
  rcode: unanswered('the server answered with an error'),
  timeout: unanswered('no answer in time'),
  network: unanswered('the server could not be reached'),
  malformed: unanswered('the answer could not be read'),
  cname_loop: unanswered('the CNAME chain has a loop or is too long'),
  invalid_name: unanswered('the name is too long for a query'),
  unsafe_address: unanswered('the server has a private or reserved address'),
  resolver_denies_everything: unanswered(
    'the resolver denies every name, even top-level domains: a captive portal, a filter, or no internet connection (resolver_denies_everything)',
  ),
  too_many_questions: unanswered(
    'not queried: the domain needs more DNS queries than one request may send (too_many_questions)',
  ),
  aborted: unanswered('the query was canceled'),
})
