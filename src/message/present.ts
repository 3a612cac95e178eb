import type { MessageAnswer } from '../answers/message.ts'
import { printable } from '../base/text.ts'
import type { CheckHostAnswer } from '../checks/spf/index.ts'
import type { Claim } from './authentication-results.ts'
import { isoSeconds, MAX_SIGNATURES } from './dkim.ts'
import { dateOf, type Envelope } from './envelope.ts'
import type { Facts } from './facts.ts'
import { permerrorOf } from './judge.ts'
import { decodedField, type Field, fieldBody } from './parse.ts'

type Part<K extends keyof MessageAnswer> = Pick<MessageAnswer, K>

const MAX_PATH = 50
/** Maximum number of field names of a list. */
const MAX_NAMES = 200
/** Maximum number of attachments of an answer. */
const MAX_ATTACHMENTS = 50
const clean = (text: string, max = 320): string => printable(text, max)

/** The parts of the answer that follow from the message and the DNS alone. */
export function presentFacts(
  facts: Facts,
): Part<
  | 'from'
  | 'envelope'
  | 'receivers'
  | 'path'
  | 'path_left_out'
  | 'spf'
  | 'dkim'
  | 'dmarc'
  | 'arc'
  | 'authentication_results'
  | 'headers'
> {
  return {
    from: presentFrom(facts),
    envelope: presentEnvelope(facts),
    ...presentReceivers(facts),
    ...presentPath(facts),
    spf: presentSpf(facts),
    dkim: presentDkim(facts),
    dmarc: presentDmarc(facts),
    arc: presentArc(facts),
    authentication_results: presentResults(facts),
    headers: presentHeaders(facts),
  }
}

function presentFrom({ author }: Facts): MessageAnswer['from'] {
  const first = author.mailboxes[0]
  return {
    address: first ? clean(first.address) : null,
    ...(first && first.name !== '' ? { name: clean(first.name, 200) } : {}),
    domain: author.domain ?? null,
    authors: author.mailboxes.length,
  }
}

function presentEnvelope({ envelope: { ip, helo, mailFrom, knownFrom } }: Facts): MessageAnswer['envelope'] {
  return {
    ip: ip ?? null,
    helo: helo === undefined ? null : clean(helo, 255),
    mail_from: mailFrom === undefined ? null : clean(mailFrom),
    known_from: knownFrom,
  }
}

function presentReceivers({ receivers }: Facts): Part<'receivers'> {
  if (receivers.length === 0) return {}
  return { receivers: receivers.map((one) => ({ ...one, host: clean(one.host, 255), helo: clean(one.helo, 255) })) }
}

function presentPath({ hops, names }: Facts): Part<'path' | 'path_left_out'> {
  const oldestFirst = hops.toReversed()
  const path = oldestFirst.map((hop, i) => {
    const before = oldestFirst[i - 1]?.at
    const address = hop.address === undefined ? undefined : names.get(hop.address)
    return {
      from: clean(hop.from, 255),
      by: clean(hop.by, 255),
      with: clean(hop.with, 40),
      ...(hop.at === undefined ? {} : { at: new Date(hop.at).toISOString() }),
      ...(hop.at === undefined || before === undefined ? {} : { delay_ms: hop.at - before }),
      tls: hop.tls,
      ...(hop.address === undefined ? {} : { address: hop.address }),
      ...(address ? { ptr: address.names, forward_confirmed: address.confirmed } : {}),
      trusted: hop.trusted,
    }
  })
  const leftOut = path.length - MAX_PATH
  return leftOut > 0 ? { path: path.slice(leftOut), path_left_out: leftOut } : { path }
}

function presentSpf({ spf, envelope, dmarc }: Facts): MessageAnswer['spf'] {
  if (!spf) {
    const because =
      envelope.ip === undefined
        ? 'the address of the connection is not known'
        : 'neither the envelope sender nor the HELO name is known'
    return { result: 'unknown', domain: null, aligned: null, because }
  }
  return {
    result: spf.result,
    domain: spf.domain === '' ? null : clean(spf.domain, 253),
    aligned: envelope.mailFrom === undefined ? null : dmarc.alignment.spf,
    because: presentMechanism(spf, envelope),
  }
}

function presentDkim({ dkim, dmarc, mail }: Facts): MessageAnswer['dkim'] {
  const names = [...new Set(mail.fields.map(({ name }) => name))]
  return dkim.map(({ domain, selector, algorithm, result, because, signature, key }, i) => {
    const signed = [...new Set(signature?.names ?? [])]
    return {
      domain,
      selector,
      result,
      because: because?.text ?? 'the signature holds',
      ...(because === undefined ? {} : { cause: because.id }),
      aligned: domain === '' ? null : (dmarc.alignment.dkim[i] ?? null),
      algorithm,
      key_bits: key?.bits ?? null,
      signed_headers: signed.slice(0, MAX_NAMES).map((name) => clean(name, 80)),
      unsigned: signature
        ? names
            .filter((name) => !signed.includes(name) && name !== 'dkim-signature')
            .slice(0, MAX_NAMES)
            .map((name) => clean(name, 80))
        : [],
      body_length: signature?.limit === undefined ? null : Math.min(signature.limit, Number.MAX_SAFE_INTEGER),
      expires_at: signature?.expiresAt === undefined ? null : isoSeconds(signature.expiresAt),
      canonicalization: signature ? `${signature.header}/${signature.body}` : '',
      ...(key?.testing ? { testing: true } : {}),
    }
  })
}

function presentDmarc({ dmarc }: Facts): MessageAnswer['dmarc'] {
  const because =
    dmarc.because?.text ??
    (dmarc.alignedBy.length > 0
      ? `${dmarc.alignedBy.map((one) => (one === 'spf' ? 'SPF' : 'DKIM')).join(' and ')} ${dmarc.alignedBy.length === 1 ? 'passes' : 'pass'} for an aligned domain`
      : '')
  return {
    result: dmarc.result,
    domain: dmarc.domain ?? null,
    policy: dmarc.policy ?? null,
    would: dmarc.would ?? null,
    aligned_by: dmarc.alignedBy,
    organizational_domain: dmarc.organizationalDomain ?? null,
    because,
    ...(dmarc.foundAt === undefined ? {} : { found_at: dmarc.foundAt }),
    ...(dmarc.modes && dmarc.foundAt !== undefined ? { adkim: dmarc.modes.dkim, aspf: dmarc.modes.spf } : {}),
  }
}

const presentClaim = ({ method, result, domain }: Claim) => ({ method, result, domain: clean(domain, 253) })

function presentArc({ arc: { result, sets, because } }: Facts): MessageAnswer['arc'] {
  return {
    result,
    sets: sets.map(({ instance, domain, selector, cv, claims }) => ({
      instance,
      domain: clean(domain, 253),
      selector: clean(selector, 253),
      cv: clean(cv, 20),
      claims: claims.map(presentClaim),
    })),
    ...(because === undefined ? {} : { because: because.text }),
  }
}

function presentResults(facts: Facts): MessageAnswer['authentication_results'] {
  return facts.results.map(({ host, trusted, claims }) => {
    const compared = claims.flatMap((claim) => {
      const ours = ourResult(facts, claim)
      return ours === undefined ? [] : [isSame(claim, ours)]
    })
    return {
      host: clean(host, 253),
      trusted,
      claims: claims.slice(0, 20).map(presentClaim),
      agrees: compared.length === 0 ? null : compared.every((one) => one),
    }
  })
}

/** Our own result for what a host claims; undefined where we have none that is firm. */
export function ourResult({ spf, dkim, dmarc, arc, mail }: Facts, { method, domain }: Claim): string | undefined {
  const firm = (result: string | undefined): string | undefined =>
    result === 'temperror' || result === 'unknown' ? undefined : result
  if (method === 'spf') return spf && (domain === '' || domain === spf.domain) ? firm(spf.result) : undefined
  if (method === 'dmarc') return domain === '' || domain === dmarc.domain ? firm(dmarc.result) : undefined
  if (method === 'arc') return firm(arc.result)
  if (method !== 'dkim') return undefined
  const results = dkim
    .filter((one) => domain === '' || one.domain === domain || domain.endsWith(`.${one.domain}`))
    .map(({ result }) => result)
  if (results.includes('pass')) return 'pass'
  // A result of a signature that the message does not have
  if (results.length === 0) return mail.cut || dkim.length === MAX_SIGNATURES ? undefined : 'none'
  return domain === '' && results.length > 1 ? undefined : firm(results[0])
}

/** Hosts use different words for a signature that does not hold. */
export const isSame = ({ method, result }: Claim, ours: string): boolean =>
  result === ours ||
  (method === 'dkim' && result !== 'pass' && ours !== 'pass') ||
  (method === 'dmarc' &&
    ['none', 'bestguesspass', 'permerror'].includes(result) &&
    ['none', 'permerror'].includes(ours)) ||
  (method === 'spf' && result === 'hardfail' && ours === 'fail')

function presentHeaders({ mail, mime }: Facts): MessageAnswer['headers'] {
  const field = (name: string): Field | undefined => mail.fields.find((one) => one.name === name)
  const [subject, date, id] = [field('subject'), field('date'), field('message-id')]
  const at = date && dateOf(fieldBody(date))
  const attachments = mime.parts
    .filter(
      ({ disposition, name, type }) =>
        disposition === 'attachment' || name !== '' || !/^(?:text|multipart)\//.test(type),
    )
    .map((part) => ({
      name: clean(part.name, 200),
      type: part.type,
      bytes: part.encoding === 'base64' ? Math.floor(((part.end - part.start) / 78) * 57) : part.end - part.start,
    }))
  const leftOut = attachments.length - MAX_ATTACHMENTS
  return {
    bytes: mail.octets.bytes,
    lines: mail.octets.lines,
    mime: mime.type,
    attachments: attachments.slice(0, MAX_ATTACHMENTS),
    ...(leftOut > 0 ? { attachments_left_out: leftOut } : {}),
    fields: mail.fields.length,
    ...(subject ? { subject: clean(decodedField(subject), 300) } : {}),
    ...(at === undefined ? {} : { date: new Date(at).toISOString() }),
    ...(id ? { message_id: clean(fieldBody(id), 300) } : {}),
  }
}

/** Why SPF has its result, in a sentence. */
function presentMechanism(spf: CheckHostAnswer, { ip, mailFrom }: Envelope): string {
  const { result, mechanism, domain } = spf
  const why = mailFrom === '' ? 'is empty' : mailFrom === undefined ? 'is not known' : undefined
  const whose = `${printable(domain, 253)}${why === undefined ? '' : ` (the HELO name, because the envelope sender ${why})`}`
  const by = mechanism === undefined || mechanism === 'default' ? '' : ` by ${printable(mechanism, 100)}`
  switch (result) {
    case 'pass':
      return `${ip} may send for ${whose}${by}`
    case 'fail':
      return `${whose} forbids ${ip}${by}`
    case 'softfail':
      return `${whose} does not expect mail from ${ip}${by}`
    case 'neutral':
      return `${whose} says nothing about ${ip}${by}`
    case 'none':
      return `${whose} has no SPF record`
    case 'permerror':
      return `the SPF record of ${whose} cannot be evaluated${reasonOf(spf)}`
    case 'temperror':
      return `a lookup for the SPF record of ${whose} had no answer`
  }
}

function reasonOf(spf: CheckHostAnswer): string {
  const reason = permerrorOf(spf)
  return reason === undefined ? '' : `: ${printable(reason, 300)}`
}
