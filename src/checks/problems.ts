import { type Problem, problemsOf, quoted, shown } from '../base/problem.ts'
import { counted } from '../base/text.ts'

/** The role as text: "The domain is …". */
export const ROLE_WORDS = {
  no_such_domain: 'a name that does not exist',
  sends_and_accepts_mail: 'a domain that sends and accepts mail',
  accepts_mail_only: 'a domain that only accepts mail',
  sends_only: 'a domain that only sends mail',
  parked: 'a domain without mail (parked)',
  no_mail: 'a name without mail of its own',
  return_path: 'a return-path name of a sending provider',
} as const

type Alias = { target: string; above: string }

/** Why a domain has its role, and what follows. `why` is such a reason. */
export const roleProblem = problemsOf('role', {
  no_other_use: () => 'no record indicates another use',
  no_mx_answer: () => 'the MX records could not be looked up',
  no_sender_no_mx_answer: () => 'SPF authorizes no sender, and the MX records could not be looked up',
  no_such_name: () => 'the DNS has no such name (NXDOMAIN)',
  no_sender_mx: () => 'SPF authorizes no sender, and there is an MX record',
  no_sender: ({ why }: { why: Problem }, say) => `SPF authorizes no sender, and ${say(why)}`,
  senders: ({ why }: { why: Problem }, say) => `SPF names senders, and ${say(why)}`,
  null_declares: () => 'a null MX declares that it accepts no mail',
  no_mx: () => 'there is no MX record',
  no_mx_no_address: () => 'there is neither an MX record nor an address',
  alias: ({ target, above }: Alias) =>
    `it is an alias (CNAME) of ${shown(target, 255)} below ${shown(above, 255)}, and has no records of its own`,
  below: ({ above }: { above: string }) =>
    `it is a name below ${shown(above, 255)}, and it has no MX record, no SPF record and no DKIM key`,
  reverse: () => 'it is a name of a reverse zone, which names addresses: no domain for mail',
  retired: ({ why }: { why: Problem }, say) =>
    `its DMARC record asks receivers to reject all of its mail, it has no SPF record and no DKIM key, and ${say(why)}`,
  return_path: ({ above, provider }: { above: string; provider: string }) =>
    `it is a name below ${shown(above, 255)} to which ${shown(provider, 80)} lets bounces go, and no DKIM key was found at it`,
  spf_senders: () => 'SPF names senders',
  no_spf_answer: () => 'the SPF record could not be looked up',
  no_spf: () => 'no SPF record declares that it sends no mail',
  spf_unusable: () => 'the SPF record cannot be used',
  spf_part: () => 'a part of the SPF record could not be looked up',
  spf_neutral: () => 'SPF names no sender, and does not end in "-all"',
  with_mx: ({ why }: { why: Problem }, say) => `${say(why)}, and there is an MX record`,
  not_certain: ({ why }: { why: Problem }, say) =>
    `it depends on the use of the domain, which is not certain: ${say(why)}`,
  null_mx: () => 'the domain declares that it accepts no mail',
  role: ({ role, why }: { role: keyof typeof ROLE_WORDS; why: Problem }, say) => `${ROLE_WORDS[role]}: ${say(why)}`,
})

/** Why a domain may receive no mail, as text after its name. */
export const noMailRole = problemsOf('no_mail_role', {
  maybe: () => 'may accept no mail',
  parked: () => 'has no MX record, and nothing can send as it',
  web_name: () => 'is a name without mail of its own',
  return_path: () => 'takes nothing but the bounces of a sending provider',
})

/** Why it is not known whether DNSSEC protects a name. */
export const validationProblem = problemsOf('validation', {
  not_believed: () => 'the resolver does not validate, or its AD bit is not trusted (--trust-ad)',
  not_known: () => 'it could not be determined whether the resolver validates',
  addresses: ({ host }: { host: string }) => `the addresses of ${shown(host, 255)} could not be looked up`,
})

/** Why it is not known whether mail arrives. */
export const mailHostProblem = problemsOf('mail_host', {
  unanswered: () => 'a mail host could not be looked up',
})

/** What is wrong with a TLSRPT record or with one of its destinations. */
export const tlsRptProblem = problemsOf('tls_rpt', {
  no_rua: () => 'rua is missing',
  no_address: ({ text, why }: { text: string; why: Problem }, say) =>
    `rua has no usable address: ${quoted(text)}: ${say(why)}`,
  scheme: () => 'not a mailto or https address',
})

type Text = { text: string }

/** What is wrong with the value of a CAA property. */
export const caaProblem = problemsOf('caa', {
  too_long: ({ max }: { max: number }) => `the value is longer than ${max} characters`,
  issuer: ({ text }: Text) => `${quoted(text, 80)} is not the domain of a certificate authority`,
  parameter: ({ text }: Text) => `${quoted(text, 80)} is not a parameter; write tag=value`,
})

/** Why the PTR records of a domain are not valid. */
export const ptrProblem = problemsOf('ptr', {
  no_address: () => 'no mail host has an address',
  /** `text` is a list of addresses. */
  missing: ({ text }: { text: string }) => `no PTR record for ${shown(text, 900)}`,
  senders_unknown: () => 'which addresses send as the domain is not known: a part of SPF could not be looked up',
  unanswered: () => 'a PTR record could not be looked up',
})

type Octet = { octet: number }

/** Why mail servers cannot use a TLSA record. */
export const tlsaProblem = problemsOf('tlsa', {
  pkix: ({ octet }: Octet) => `certificate usage ${octet} is not valid for mail`,
  usage: ({ octet }: Octet) => `${octet} is not a certificate usage`,
  selector: ({ octet }: Octet) => `${octet} is not a selector`,
  matching_type: ({ octet }: Octet) => `${octet} is not a matching type`,
  digest: ({ count, expected }: { count: number; expected: number }) =>
    `the digest has ${counted(count, 'octet')} instead of ${expected}`,
  empty: () => 'it has no data',
})

export const serverAnswerProblem = problemsOf('name_server', {
  not_authoritative: () => 'its answer is not authoritative',
})

type From = { from: string }
/** The name of a server; the resolver has none. */
const by = (from: string): string => (from === '' ? 'the resolver' : shown(from, 255))

/** What a name server, or the resolver, says about a record. */
export const serverSaysProblem = problemsOf('name_server_says', {
  text: ({ from, text }: From & { text: string }) => `${by(from)} says ${quoted(text, 200)}`,
  nothing: ({ from, record }: From & { record: string }) =>
    `${by(from)} has no ${shown(record.toUpperCase(), 5)} record`,
})

/** Why a sender that requires TLS with a valid certificate does not deliver to a host. */
export const tlsFaultProblem = problemsOf('tls_fault', {
  no_starttls: () => 'no working STARTTLS',
  expired: () => 'its certificate has expired',
  untrusted: () => 'its certificate is not trusted',
  other_name: () => 'its certificate is for another name',
})

/** Why nothing, or not enough, is known about the TLS of a host; `stage` is that of the session. */
export const tlsProblem = problemsOf('tls', {
  no_address: () => 'the host has no address',
  refused: () => 'the server refused STARTTLS after it had announced it',
  reply: ({ code, text, stage }: { code: number; text: string; stage: string }) =>
    shown(`it answered ${code} ${text} to us (${stage})`, 300),
  ended: ({ why, stage }: { why: Problem; stage: string }, say) => shown(`${say(why)} (${stage})`, 300),
  no_answer: () => 'no mail host answered',
  no_reason: () => 'no reason given',
})
