import { type Problem, shown } from '../base/problem.ts'
import type { Finding } from '../checks/check.ts'
import { type MakeFinding, makeFinding, severityOf } from '../checks/finding.ts'
import type { CheckHostAnswer } from '../checks/spf/index.ts'
import { isPublic } from '../names/ip-range.ts'
import { dkimStepsOf } from '../providers/index.ts'
import { providerOfSignature } from '../providers/sending.ts'
import { adviceOn } from './advice.ts'
import { isoSeconds, MAX_SIGNATURES } from './dkim.ts'
import type { MessageDmarc } from './dmarc.ts'
import { dateOf } from './envelope.ts'
import type { Facts } from './facts.ts'
import { messageFindings } from './findings.ts'
import { type DomainState, forgeryOf, type SendingHost, sendingHost } from './host.ts'
import { keyName } from './keys.ts'
import type { MimeFault } from './mime.ts'
import { decodedField, type Field, fieldBody, MAX_FIELDS, mailboxesOf } from './parse.ts'
import { operatorOf } from './receivers.ts'

const found: MakeFinding<typeof messageFindings> = makeFinding

/** The judgement of a message by its facts; pure. In the order in which a reader wants to know. */
export function judgeMessage(facts: Facts, state?: DomainState): readonly Finding[] {
  const isOpen = facts.dmarc.result !== 'pass' || facts.spf?.result !== 'pass'
  const host: SendingHost = isOpen ? sendingHost(facts, state) : { kind: 'unknown' }
  const forged = isOpen ? forgeryOf(facts, host, state) : undefined
  const spf = judgeSpf(facts, host, state)
  const isPassedOn = spf.some(({ id }) => id === 'message.spf_forwarded')
  const findings = [
    ...spf,
    ...judgeDkim(facts, state),
    ...judgeWay(facts),
    ...(isPassedOn || facts.forwarding !== undefined ? [] : judgeConnection(facts)),
    ...judgeFormat(facts),
    ...(facts.headerOnly ? [] : judgeMime(facts)),
  ]
  if (forged === undefined) return [...judgeDmarc(facts, findings, state), ...findings]
  const { domain, would = 'none' } = facts.dmarc
  // Whatever is wrong with it is the forger's affair.
  const notes = findings.filter((one) => severityOf(messageFindings, one) === 'info' && one.id !== 'message.spf_failed')
  return [found('message.looks_forged', { domain: domain ?? '', evidence: capitalized(forged), would }), ...notes]
}

/** What the format of RFC 5322 asks for. */
export const judgeFormat = (facts: Facts): readonly Finding[] => [
  ...judgeFields(facts),
  ...(facts.isCopied ? [] : judgeOctets(facts)),
]

/** Findings that make DMARC fail, the one to repair first. */
const CAUSES = [
  'message.dkim_failed',
  'message.dkim_not_aligned',
  'message.spf_not_aligned',
  'message.spf_failed',
  'message.not_signed',
]

function judgeDmarc({ dmarc, author }: Facts, others: readonly Finding[], state?: DomainState): Finding[] {
  const domain = author.domain ?? ''
  const reason = dmarc.because
  switch (dmarc.result) {
    case 'fail': {
      const isTold = (one: Finding): boolean => severityOf(messageFindings, one) !== 'info'
      const cause = CAUSES.find((id) => others.some((one) => one.id === id && isTold(one)))
      return [
        {
          ...found('message.dmarc_failed', { domain, reason: reason!, would: dmarc.would ?? 'none' }),
          ...(cause === undefined
            ? { repair: 'Sign with a DKIM key of the domain of the author.' }
            : { follows: cause }),
        },
      ]
    }
    case 'none':
    case 'permerror':
      return author.domain === undefined ? [] : [recordFinding(domain, reason!, state)]
    case 'temperror':
    case 'unknown':
      return reason === undefined ? [] : [found('message.dmarc_unknown', { reason })]
    case 'pass':
      return []
  }
}

function recordFinding(domain: string, reason: Problem, state: DomainState | undefined): Finding {
  if (state?.isMissing)
    return {
      ...found('message.no_dmarc_record', { domain, reason: 'the domain does not exist' }),
      repair:
        'Write an address of a domain that exists into From. If you did not send the message, it is forged, and nothing has to be done.',
    }
  const fault = state?.dmarc
  return {
    ...found('message.no_dmarc_record', { domain, reason: fault ? withoutStop(fault.detail) : reason }),
    ...(fault?.repair !== undefined && { repair: fault.repair }),
  }
}

const withoutStop = (text: string): string => text.replace(/\.$/, '')

function judgeSpf(
  { spf, envelope, dmarc, author, forwarding, dkim }: Facts,
  { kind, name }: SendingHost,
  state?: DomainState,
): Finding[] {
  if (!spf || envelope.ip === undefined) return []
  const { result, domain } = spf
  const { ip: address } = envelope
  if (result === 'pass') {
    if (author.domain === undefined || dmarc.alignment.spf !== false) return []
    const isStrict = dmarc.because?.id === 'message_dmarc.strict' && String(dmarc.because.values.tags).includes('aspf')
    const strict = isStrict && ({ severity: 'medium', ...alignmentAdvice([], author.domain, dmarc) } as const)
    return [{ ...found('message.spf_not_aligned', { domain, author: author.domain }), ...strict }]
  }
  // Without the message as it was nobody knows whether a signature passes, as it does for mail that was forwarded.
  if (result === 'temperror' || dmarc.result === 'unknown') return []
  // Nobody knows the sender, so it may have a record.
  if (result === 'none' && envelope.mailFrom === undefined) return []
  if (result === 'none' && envelope.mailFrom === '') {
    const repair = `Publish "v=spf1 a -all" at ${domain}: this name (HELO) stands for the sender of mail that names none, such as bounces.`
    const unnamed = found('message.spf_failed', { address, domain, result })
    return [{ ...unnamed, ...(dmarc.result === 'pass' && { severity: 'low' as const }), repair }]
  }
  const fault = state?.spf
  if (result === 'permerror' || (result === 'none' && fault)) {
    const values = { address, domain, result, reason: fault?.detail ?? permerrorOf(spf) ?? '' }
    return [{ ...found('message.spf_failed', values), ...(fault?.repair !== undefined && { repair: fault.repair }) }]
  }
  const isForeign = kind === 'foreign' || kind === 'nameless'
  const host = name === undefined ? `${address}` : `${address} (${name})`
  if (dmarc.result === 'pass' && (forwarding !== undefined || isForeign)) {
    const evidence =
      forwarding ?? `${name ?? 'its address'} is not below ${author.domain}, and a signature of it passes`
    return [found('message.spf_forwarded', { address, evidence })]
  }
  const failed = found('message.spf_failed', { address, domain, result })
  if (kind === 'own') return [{ ...failed, repair: `Add ${address} (${name}) to the SPF record of ${domain}.` }]
  if (kind === 'service') {
    const signer = dkim.find((one) => one.result === 'pass')!.domain
    const repair = `Let the service behind ${signer} sign with DKIM for ${author.domain ?? domain}, its own domain (d=), and use a return path of its own, or publish the SPF include that it names.`
    return [{ ...failed, repair }]
  }
  if (kind === 'provider')
    return [
      {
        ...failed,
        repair: `Publish the SPF include that the mail provider of ${domain} names: ${host} is one of its hosts.`,
      },
    ]
  // Somebody else's host: SPF must not be widened for it.
  if (isForeign) {
    const said = `${host} is no host of ${domain}: it forwarded the message, or is a service that is not set up, or the message is forged`
    return [
      {
        ...found('message.spf_failed', { address, domain, result, reason: `${said}.` }),
        severity: 'info',
        repair: FORWARDED,
      },
    ]
  }
  return [failed]
}

const FORWARDED =
  'Sign with DKIM for the domain of the author: forwarded mail then passes. Do not widen SPF for a host that is not yours.'

/** The record or term on which the evaluation ended. */
export const permerrorOf = ({ trace }: CheckHostAnswer): string | undefined => {
  const last = trace.findLast(({ outcome, note }) => outcome === 'permerror' && note !== undefined)
  return last && `${last.term === undefined ? '' : `${last.term}: `}${last.note!.text}`
}

/** Fields that readers see, or that say what the body is (RFC 6376 §5.4.1). */
const WANTED = ['Subject', 'Date', 'To', 'Message-ID', 'MIME-Version', 'Content-Type']

const LIST_FIELDS = ['list-id', 'list-post', 'mailing-list', 'x-mailman-version', 'x-beenthere', 'x-mailing-list']
/** The envelope sender of Mailman, ezmlm, Sympa and Majordomo. */
const LIST_SENDER = /^[^@]{1,64}-(?:bounces?|return|owner|admin)(?:[+=-][^@]{0,320})?@|^owner-[^@]{1,64}@/i
/** Results that say nothing about a signature. */
const OPEN: readonly string[] = ['temperror', 'neutral', 'unknown']

/** A step between two hosts of one operator, or between addresses that nobody outside reaches. */
function isWithin({ address, by, from }: Facts['hops'][number]): boolean {
  const operator = operatorOf(by)
  return address === undefined ? false : !isPublic(address) || (operator !== undefined && operatorOf(from) === operator)
}

const AS_RECEIVED =
  'No line in it is of a connection with the outside, so it may be a draft, the copy of its sender, or mail within one organization, and is signed later or never: analyse it as somebody outside received it.'

/** Whether only a part of the header is here, such as one field: what it lacks is not missing in the message. */
const isPart = ({ headerOnly, mail }: Facts): boolean => headerOnly && !mail.fields.some(({ name }) => name === 'from')

function judgeDkim(facts: Facts, state?: DomainState): Finding[] {
  const { dkim, dmarc, author, mail, envelope, at } = facts
  const signatures = mail.fields.filter(({ name }) => name === 'dkim-signature').length
  const drafts = mail.fields.some(({ name }) => name === 'dkim2-signature') ? [found('message.dkim2')] : []
  if (signatures === 0) {
    // It has not left the systems of its sender, so none has signed it: a draft, or the sender's own copy.
    const isOwnCopy =
      facts.results.length === 0 && envelope.knownFrom === 'none' && facts.hops.every((hop) => isWithin(hop))
    const unsigned = isOwnCopy && ({ severity: 'info', repair: AS_RECEIVED } as const)
    const isStrange = dmarc.result === 'fail' && facts.spf?.result === 'pass' && dmarc.alignment.spf === false
    const values = isStrange ? { stranger: facts.spf?.domain ?? '', author: author.domain ?? '' } : {}
    const strange = isStrange && {
      repair: `If ${envelope.ip} sends for you, let it sign with a DKIM key of ${author.domain}; if not, the message is forged, and nothing has to be done.`,
    }
    return isPart(facts) ? drafts : [{ ...found('message.not_signed', values), ...strange, ...unsigned }, ...drafts]
  }
  const findings: Finding[] = [...drafts]
  const passing = dkim.filter(({ result }) => result === 'pass')
  const isAligned = (one: (typeof dkim)[number]): boolean => dmarc.alignment.dkim[dkim.indexOf(one)] === true
  const aligned = passing.find(isAligned)
  const isList = mail.fields.some(({ name }) => LIST_FIELDS.includes(name)) || LIST_SENDER.test(envelope.mailFrom ?? '')
  for (const [i, one] of dkim.entries()) {
    const { domain, selector, result, because } = one
    const isForeign = dmarc.result === 'pass' && dmarc.alignment.dkim[i] === false
    if (result === 'pass') continue
    const args = { domain: domain || 'an unknown domain', selector: selector || 'unknown', reason: because! }
    if (OPEN.includes(result)) findings.push(found('message.dkim_unknown', args))
    else if (aligned || isForeign)
      findings.push(found('message.dkim_failed_beside', { ...args, isForeign: isForeign && !aligned }))
    else {
      const step = state?.key?.name === keyName(one) ? `${state.key.step} ` : ''
      const repair = `${step}${adviceOn(because!, { isList, key: keyName(one), domain })}`
      findings.push({ ...found('message.dkim_failed', args), repair: shown(repair, 1_000) })
    }
  }
  if (
    !aligned &&
    author.domain !== undefined &&
    passing.length > 0 &&
    dkim.every(({ result }) => result !== 'temperror' && result !== 'unknown')
  ) {
    const domains = [...new Set(passing.map(({ domain }) => domain))]
    const isKnown = passing.every((one) => dmarc.alignment.dkim[dkim.indexOf(one)] === false)
    if (isKnown)
      findings.push({
        ...found('message.dkim_not_aligned', { domains, author: author.domain }),
        ...alignmentAdvice(domains, author.domain, dmarc, facts.spf?.result),
      })
  }
  for (const { signature, domain } of dkim) {
    const signedAt = (signature?.signedAt ?? 0) * 1_000
    if (signedAt <= at + AHEAD_MS) continue
    const future = found('message.dkim_future', { domain, date: isoSeconds(signedAt / 1_000) })
    findings.push(signedAt > at + DAY_MS ? future : { ...future, severity: 'low' })
  }
  for (const one of passing)
    if (one.key?.testing) findings.push(found('message.dkim_testing', { domain: one.domain, name: keyName(one) }))
  for (const { signature, bodyLength, domain } of passing) {
    if (signature?.limit !== undefined)
      findings.push(
        found('message.dkim_length', { domain, signed: signature.limit, length: bodyLength ?? signature.limit }),
      )
  }
  if (aligned?.signature) {
    const signed = new Set(aligned.signature.names)
    const there = new Set(mail.fields.map(({ name }) => name))
    const names = WANTED.filter((name) => there.has(name.toLowerCase()) && !signed.has(name.toLowerCase()))
    if (names.length > 0) findings.push(found('message.dkim_unsigned_fields', { domain: aligned.domain, names }))
  }
  if (signatures > MAX_SIGNATURES)
    findings.push(found('message.too_many_signatures', { count: signatures, seen: MAX_SIGNATURES }))
  return findings
}

/** How the signer comes to sign for the author domain: the steps of a known provider, or the mode of alignment. */
function alignmentAdvice(
  domains: readonly string[],
  author: string,
  { because, alignment }: Pick<MessageDmarc, 'because' | 'alignment'>,
  spf?: string,
): Pick<Finding, 'repair'> {
  if (because?.id === 'message_dmarc.strict')
    return {
      repair: `Sign with d=${author} and use an envelope sender of ${author}, or take ${because.values.tags} out of the DMARC record: relaxed alignment accepts subdomains.`,
    }
  const provider = domains.flatMap((domain) => providerOfSignature(domain) ?? [])[0]
  const steps = provider && dkimStepsOf(provider, author)
  if (steps !== undefined)
    return { repair: `${provider!.name} signs with a domain of its own until DKIM is set up. ${steps}` }
  if (provider?.kind === 'sender')
    return {
      repair: `${provider.name} signs with a domain of its own until DKIM is set up. Add ${author} to the sending domains in its administration, and publish the records that it shows.`,
    }
  const service = domains.slice(0, 3).join(', ')
  const isOurs = spf === 'pass' && alignment.spf === true
  return {
    repair: `Set up DKIM for ${author} at the service that sends (${service}), so that it signs with d=${author}.${isOurs ? '' : ' If it does not send for you, the message is forged, and nothing has to be done.'}`,
  }
}

/** A host may be this far behind another one before it is told, ms. */
const CLOCK_TOLERANCE_MS = 5_000

function judgeWay({ hops, forwarding, spf, dmarc, mail, arc }: Facts): Finding[] {
  const findings: Finding[] = []
  const isTold = spf !== undefined && spf.result !== 'pass' && spf.result !== 'temperror' && dmarc.result === 'pass'
  if (forwarding !== undefined && !(isTold && spf.result !== 'permerror'))
    findings.push(found('message.forwarded', { evidence: forwarding }))
  const resent = mail.fields.find(({ name }) => name === 'resent-from')
  if (resent) findings.push(found('message.resent', { by: mailboxesOf(resent)[0]?.address ?? '' }))
  const list = mail.fields.find(({ name }) => name === 'list-id')
  if (list) findings.push(found('message.through_list', { list: decodedField(list).slice(0, 200) }))
  if (arc.result === 'fail' && arc.because)
    findings.push(found('message.arc_failed', { reason: capitalized(arc.because.text) }))
  const oldestFirst = hops.toReversed()
  for (const [i, hop] of oldestFirst.entries()) {
    const before = oldestFirst[i - 1]?.at
    if (hop.at === undefined || before === undefined || hop.at >= before - CLOCK_TOLERANCE_MS) continue
    findings.push(
      found('message.clock_backwards', { host: hop.by || 'a host', seconds: Math.round((before - hop.at) / 1_000) }),
    )
    break
  }
  return findings
}

/** What the host that connected lacks: a forwarder's name and TLS are no matter of the sender. */
function judgeConnection({ connection: { address, by, forwardConfirmed, tls } }: Facts): Finding[] {
  return [
    ...(forwardConfirmed === false && address !== undefined ? [found('message.ptr_not_confirmed', { address })] : []),
    ...(tls === false ? [found('message.no_tls', { host: by || 'the receiver' })] : []),
  ]
}

const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** RFC 5322 §3.6: fields that may occur once. */
const ONCE = [
  'Date',
  'From',
  'Sender',
  'Reply-To',
  'To',
  'Cc',
  'Bcc',
  'Message-ID',
  'In-Reply-To',
  'References',
  'Subject',
]
const MIME_ONCE = ['MIME-Version', 'Content-Type', 'Content-Transfer-Encoding']
/** A date may be this far ahead, ms. */
const AHEAD_MS = 15 * 60_000
/** What is further ahead is no matter of zones and summer time, ms. */
const DAY_MS = 86_400_000

function judgeFields(facts: Facts): Finding[] {
  const { mail, author, at } = facts
  const { fields } = mail
  const findings: Finding[] = []
  const count = (name: string): number => fields.filter((field) => field.name === name.toLowerCase()).length
  for (const name of isPart(facts) ? [] : ['From', 'Date', 'Message-ID'])
    if (count(name) === 0) findings.push(found('message.field_missing', { name }))
  for (const name of [...ONCE, ...MIME_ONCE])
    if (count(name) > 1) findings.push(found('message.field_doubled', { name, count: count(name) }))
  if (author.mailboxes.length > 1)
    findings.push(found('message.several_authors', { count: author.mailboxes.length, domains: author.domains }))
  if (count('From') > 0 && author.domains === 0) findings.push(found('message.no_author'))
  const shown = author.mailboxes[0]
  const inName = shown && /[^\s<>"()]{1,64}@[a-z0-9-]+(?:\.[a-z0-9-]+)+/i.exec(shown.name.slice(0, 1_000))?.[0]
  if (shown && inName !== undefined && inName.toLowerCase() !== shown.address.toLowerCase())
    findings.push(
      found('message.display_name_address', { name: shown.name.slice(0, 200), address: shown.address.slice(0, 320) }),
    )
  const date = fields.find(({ name }) => name === 'date')
  if (date) findings.push(...judgeDate(date, at))
  if (mail.cut) findings.push(found('message.too_many_fields', { max: MAX_FIELDS }))
  if (mail.strayLines > 0 && !facts.isCopied) findings.push(found('message.stray_lines', { count: mail.strayLines }))
  return findings
}

function judgeDate(field: Field, at: number): Finding[] {
  const written = dateOf(fieldBody(field))
  if (written === undefined) return [found('message.date_invalid', {}, { evidence: fieldBody(field).slice(0, 200) })]
  return written > at + AHEAD_MS ? [found('message.date_future', { date: new Date(written).toISOString() })] : []
}

/** Maximum length of a line, octets (RFC 5322 §2.1.1). */
const MAX_LINE = 998

function judgeOctets({ mail: { octets }, smtputf8 }: Facts): Finding[] {
  const { highInHeader, longestLine, bareLf, bareCr, nul } = octets
  return [
    ...(highInHeader && !smtputf8 ? [found('message.raw_octets')] : []),
    ...(longestLine > MAX_LINE ? [found('message.long_lines', { length: longestLine })] : []),
    ...(bareLf > 0 ? [found('message.bare_lf', { count: bareLf })] : []),
    ...(bareCr > 0 ? [found('message.bare_cr', { count: bareCr })] : []),
    ...(nul > 0 ? [found('message.nul', { count: nul })] : []),
  ]
}

const FAULTS: Record<MimeFault, string> = {
  no_boundary: 'a multipart has no boundary',
  boundary_missing: 'the boundary of a multipart does not occur',
  not_closed: 'a multipart is not closed',
  too_deep: 'parts are nested too deeply',
  too_many: 'there are too many parts',
  encoding: 'a transfer encoding is not known',
  type: 'a media type cannot be read',
}

/** Types of files that Gmail and others refuse. */
const EXECUTABLE =
  /\.(?:ade|adp|apk|appx|bat|cab|chm|cmd|com|cpl|dll|dmg|exe|hta|ins|iso|isp|jar|js|jse|lib|lnk|mde|msc|msi|msp|mst|nsh|pif|ps1|scr|sct|shb|sys|vb|vbe|vbs|vhd|vxd|wsc|wsf|wsh)$/i

function judgeMime({ mime }: Facts): Finding[] {
  const leaves = mime.parts.filter(({ disposition }) => disposition !== 'attachment')
  const has = (type: string): boolean => leaves.some((part) => part.type === type)
  const executables = mime.parts.map(({ name }) => name).filter((name) => EXECUTABLE.test(name.trim()))
  return [
    ...(mime.faults.length > 0
      ? [found('message.mime_broken', { faults: mime.faults.map((fault) => FAULTS[fault]) })]
      : []),
    ...(has('text/html') && !has('text/plain') ? [found('message.text_missing')] : []),
    ...(mime.parts.some(({ type, name }) => type === 'application/ms-tnef' || /^winmail\.dat$/i.test(name))
      ? [found('message.tnef')]
      : []),
    ...(executables.length > 0 ? [found('message.executable', { names: executables.slice(0, 10) })] : []),
  ]
}
