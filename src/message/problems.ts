import { errorsOf } from '../base/errors.ts'
import { type Problem, problemsOf, quoted, shown } from '../base/problem.ts'
import { counted } from '../base/text.ts'

type Text = { text: string }
type Name = { name: string }
type Max = { max: number }

/** Why a signature does not pass: its cause, as far as it can be known. */
export const signatureProblem = problemsOf('signature', {
  too_long: ({ max }: Max) => `the signature is longer than ${max} characters`,
  too_many_tags: ({ max }: Max) => `the signature has more than ${max} tags`,
  too_many_fields: ({ max }: Max) => `the message has more than ${max} header fields, so not all of them were read`,
  too_much_signed: ({ max }: Max) =>
    `the signatures above it cover so much that it was not compared: at most ${max} times the size of the message is hashed`,
  not_a_tag: ({ text }: Text) => `${quoted(text, 40)} is not a tag and its value`,
  tag_twice: ({ tag }: { tag: string }) => `the tag ${shown(tag, 20)}= occurs twice`,
  tag_missing: ({ tag }: { tag: string }) => `the tag ${shown(tag, 20)}= is missing`,
  tag_invalid: ({ tag, text }: { tag: string } & Text) =>
    `the tag ${shown(tag, 20)}= has the invalid value ${quoted(text, 40)}`,
  from_unsigned: () => 'the signature does not cover the field From',
  identity: ({ text, domain }: Text & { domain: string }) =>
    `the identity (i=) ${quoted(text, 80)} is not in the signing domain (d=) ${shown(domain)}`,
  strict_identity: ({ name, text }: Name & Text) =>
    `the key at ${shown(name)} has t=s, which forbids the identity ${quoted(text, 80)} of a subdomain`,
  algorithm: ({ text }: Text) => `the algorithm ${quoted(text, 30)} is not supported`,
  sha1: () => 'the algorithm rsa-sha1 is not accepted any more',
  expired: ({ at }: { at: string }) => `the signature expired at ${shown(at)}`,
  expires_before_signing: () => 'the signature expires (x=) before it was made (t=)',

  no_answer: ({ name, why }: Name & { why: Problem }, say) =>
    `the key at ${shown(name)} could not be looked up: ${say(why)}`,
  key_gone: ({ name }: Name) => `there is no key at ${shown(name)}`,
  key_dangling: ({ name, target }: Name & { target: string }) =>
    `there is no key at ${shown(name)}: its CNAME leads to ${shown(target)}, which does not exist`,
  key_revoked: ({ name }: Name) => `the key at ${shown(name)} is revoked`,
  key_unusable: ({ name, why }: Name & { why: Problem }, say) =>
    why.id.startsWith('dkim_record.')
      ? `the record at ${shown(name)} is not a DKIM key that can be read: ${say(why)}`
      : `the key at ${shown(name)} cannot be used: ${say(why)}`,
  key_type: ({ name, type, algorithm }: Name & { type: string; algorithm: string }) =>
    `the key at ${shown(name)} is of the type ${shown(type)}, but the signature uses ${shown(algorithm)}`,
  key_short: ({ name, bits }: Name & { bits: number }) =>
    `the key at ${shown(name)} has ${bits} bits, which is too short to be trusted`,
  other_key: ({ name, hasOthers = false }: Name & { hasOthers?: boolean | undefined }) =>
    hasOthers
      ? `there are several keys at ${shown(name)}, and the signature was not made with the one that was taken: receivers may take any of them`
      : `the signature was not made with the key at ${shown(name)}: the key was replaced, or the signer uses another one`,
  other_selector: ({ name, selector, isThere }: Name & { selector: string; isThere: boolean }) =>
    isThere
      ? `the signature was made with the key of the selector ${quoted(selector)}, not with the one at ${shown(name)}`
      : `there is no key at ${shown(name)}; the signature was made with the key of the selector ${quoted(selector)}`,

  header_changed: () => 'a signed header field was changed after signing',
  body_missing: () => 'the body is not here, so whether the signature holds cannot be known',
  copied: () =>
    'the text was changed when it was copied, so whether the signature holds cannot be known: give the message as a file',
  body_changed: () => 'the body was changed after signing',
  both_changed: () => 'the body and a signed header field were changed after signing',
  body_short: ({ signed, arrived }: { signed: number; arrived: number }) =>
    `the signature covers ${counted(signed, 'byte')} of the body, but only ${arrived} arrived`,
})

type Instance = { instance: number }

const SAVE = 'save the message as .eml, or copy its header ("Show original", "Internet headers")'
const REPORT = 'a DMARC or TLS report is uploaded on the page Reports (POST /v1/reports)'

/** What was given for a message and is none, and what to give. */
export const formProblem = problemsOf('form', {
  address: () =>
    `this is an address, not a message: it is verified by itself (the box on the first page, or mailsonde verify)`,
  calendar: () => `this is a calendar file or an invitation (.ics), not the message that it came with; ${SAVE}`,
  contact: () => `this is a contact (vCard), not a message; ${SAVE}`,
  domain: () =>
    `this is a domain, not a message: it is checked by itself (the box on the first page, or mailsonde check)`,
  empty: () => `the text is empty; ${SAVE}`,
  key: () =>
    'this is a key or a certificate (PEM), not a message; a private key must stay secret: replace it if others have seen it',
  link: () => `this is a link to a page, which is not opened: ${SAVE}`,
  pgp: () => `this is the encrypted or signed content of a message (PGP), not the message around it; ${SAVE}`,
  record: () =>
    `this is a DNS record, such as SPF, DKIM or DMARC, not a message: it is tried out on its domain (the box on the first page)`,
  saved_page: () => `the file is a web page that a browser saved (MHTML), not a message; ${SAVE}`,
  smime: () =>
    `the file is the signed or encrypted content of a message (S/MIME, .p7m), not the message around it; ${SAVE}`,
  tls_report: () => `the text is a TLS report in JSON, not a message; ${REPORT}`,
  archive: () => `the file is an archive (zip, 7z or RAR); unpack it and give the message in it; ${REPORT}`,
  tnef: () => `the file is a winmail.dat (TNEF), which Outlook makes of attachments, not a message; ${SAVE}`,
  gzip: () => `the file is compressed (gzip); unpack it and give the message in it; ${REPORT}`,
  html: () => `the file is an HTML page, not a message; ${SAVE}`,
  no_header: () => `the text has no header field, such as From or Received; ${SAVE}`,
  office: () => `the file is of an Office program such as Word, not a message; ${SAVE}`,
  outlook: () =>
    `the file is an Outlook item (.msg) without the header of a received message: a draft, a sent one or an appointment; give the received message: ${SAVE}`,
  outlook_damaged: () =>
    `the file is of Outlook (.msg) or another Office program (OLE2), and is damaged or cut off; ${SAVE}`,
  outlook_store: () =>
    `the file is a data file of Outlook (.pst, .ost), which holds whole mailboxes; open it in Outlook and ${SAVE}`,
  pdf: () => `the file is a PDF; ${SAVE}`,
  picture: () => `the file is a picture; ${SAVE}`,
  xml: () => `the file is XML, not a message; ${REPORT}`,
  quoted: () =>
    `the text begins with what a mail program writes above a message that it forwards or quotes (From, Sent, To), not with the header that servers wrote; ${SAVE}`,
  rtf: () => `the file is a text of a word processor (RTF); ${SAVE}`,
})

/** Why an ARC chain does not pass. */
export const arcProblem = problemsOf('arc', {
  too_many: ({ max }: Max) => `the chain has more than ${max} sets`,
  instance: ({ name }: Name) => `a field ${shown(name)} has no valid instance`,
  twice: ({ name, instance }: Name & Instance) => `the field ${shown(name)} of instance ${instance} occurs twice`,
  incomplete: ({ instance }: Instance) => `the set of instance ${instance} is incomplete`,
  cv: ({ instance, text }: Instance & Text) => `the seal of instance ${instance} says cv=${shown(text, 20)}`,
  signature: ({ instance, why }: Instance & { why: Problem }, say) =>
    `the message signature of instance ${instance} cannot be verified: ${say(why)}`,
  seal_signed: ({ instance }: Instance) => `the message signature of instance ${instance} covers a seal`,
  algorithm: ({ instance, text }: Instance & Text) =>
    `the message signature of instance ${instance} uses the algorithm ${quoted(text, 30)}`,
  header: ({ instance }: Instance) =>
    `the message signature of instance ${instance} does not hold: a header field was changed after it was made`,
  too_much: ({ instance }: Instance) =>
    `the message signature of instance ${instance} was not compared, because the other signatures cover too much`,
  body: ({ instance }: Instance) =>
    `the message signature of instance ${instance} does not hold: the body was changed after it was made`,
  seal_incomplete: ({ instance }: Instance) => `the seal of instance ${instance} lacks a tag, or has an invalid one`,
  seal: ({ instance, why }: Instance & { why: Problem }, say) =>
    `the seal of instance ${instance} cannot be verified: ${say(why)}`,
  seal_invalid: ({ instance }: Instance) => `the seal of instance ${instance} does not hold`,
})

/** What was done to a message after it was signed: proven by undoing it. */
export const causeProblem = problemsOf('change', {
  footer: ({ lines, text }: { lines: number } & Text) =>
    `${counted(lines, 'line')} ${lines === 1 ? 'was' : 'were'} added at the end of the body after signing, as mailing lists and gateways do: ${quoted(text, 80)}`,
  banner: ({ lines, text }: { lines: number } & Text) =>
    `${counted(lines, 'line')} ${lines === 1 ? 'was' : 'were'} added at the beginning of the body after signing, as gateways and filters do: ${quoted(text, 80)}`,
  markup_added: ({ place, text }: { place: 'beginning' | 'end' } & Text) =>
    `text was added at the ${shown(place)} of the body (HTML) after signing, as gateways and filters do: ${quoted(text, 80)}`,
  bom: () => 'a byte order mark was put in front of the body after signing',
  bom_lost: () => 'the byte order mark in front of the body was removed after signing',
  lines_doubled: () => 'an empty line was put behind every line of the body after signing',
  wrapped: ({ type }: { type: string }) =>
    /^multipart\/(?:signed|encrypted)$/.test(type)
      ? `the message was put into a multipart message (${shown(type, 30)}) after signing, as gateways for PGP or S/MIME do`
      : 'the message was put into a multipart message after signing, as mailing lists and gateways do to add a footer',
  encrypted: ({ type }: { type: string }) =>
    `the body was changed after signing: it was encrypted (${shown(type, 30)}), as gateways for PGP or S/MIME do`,
  recoded: ({ from, to }: { from: string; to: string }) =>
    `the body was converted from the character set ${shown(from, 30)} to ${shown(to, 30)} after signing`,
  part_added: ({ text }: Text) => `a part was added to the body after signing: ${quoted(text, 80)}`,
  reencoded_body: ({ from, to }: { from: string; to: string }) =>
    from === '8bit'
      ? `the body was converted from 8-bit text to ${shown(to, 30)} after signing, because a server on the way does not accept 8BITMIME`
      : `the body was encoded anew after signing${from === to ? ` (${shown(to, 30)})` : `: it was ${shown(from, 30)}, and is ${shown(to, 30)}`}`,
  from_escaped: () => 'lines that begin with "From " got a ">" after signing, as mbox files need',
  dots_doubled: () => 'dots at the beginning of lines were doubled after signing',
  dots_lost: () => 'dots at the beginning of lines were lost after signing',
  space_added: () =>
    'blanks were added at the ends of lines after signing; the signature (c=simple) allows no change of white space',
  first_line_lost: () => 'the empty first line of the body was removed after signing',
  line_ends: () =>
    'the signer hashed the body with lines that end with LF alone, before they became CRLF (RFC 6376 §5.3): nobody changed the text',
  lines_broken: () => 'lines that were too long were broken after signing',
  subject_tag: ({ tag, isBehind }: { tag: string; isBehind: boolean }) =>
    `${quoted(tag, 80)} was put ${isBehind ? 'behind' : 'in front of'} the subject after signing`,
  field_added: ({ name }: Name) => `the field ${shown(name, 80)} was added after signing`,
  fields_added: ({ names }: { names: readonly string[] }) =>
    `the fields ${names
      .slice(0, 12)
      .map((name) => shown(name, 40))
      .join(', ')} were added after signing, as mailing lists do`,
  field_removed: ({ names }: { names: readonly string[] }) =>
    `a signed header field was removed or changed after signing: the signature names ${shown(names.slice(0, 12).join(', '))}, and the message has no such field`,
  rewritten: ({ name, how }: Name & { how: 'encoding' | 'form' }) =>
    `the field ${shown(name, 80)} was written in another ${shown(how, 20)} after signing`,
  renamed: ({ names, was }: { names: readonly string[]; was: string }) =>
    `${names.length === 1 ? `the name of the field ${shown(names.join(), 80)} was` : 'the names of header fields were'} written in another way after signing: it was ${shown(was, 80)}; the signature (c=simple) allows no such change`,
  field_replaced: ({ name, other }: Name & { other: string }) =>
    `the field ${shown(name, 80)} was replaced after signing; ${shown(other, 80)} has the signed value`,
  refolded: ({ name }: Name) => `the field ${shown(name, 80)} was folded in another way after signing`,
  reordered: ({ name }: Name) => `the fields ${shown(name, 80)} were put in another order after signing`,
  reencoded: ({ from }: { from: string }) =>
    `the field Content-Transfer-Encoding was changed after signing; it was ${shown(from, 30)}`,
  two: ({ first, second }: { first: Problem; second: Problem }, say) => `${say(first)}; ${say(second)}`,
  links_rewritten: ({ service, isProven }: { service: string; isProven: boolean }) =>
    isProven
      ? `the links of the body were rewritten after signing by ${shown(service)}`
      : `the body was changed after signing; it has links that ${shown(service)} rewrote`,
  header: ({
    simple,
    names,
    absent,
    trace,
    messageId,
  }: {
    simple: boolean
    names: readonly string[]
    absent: readonly string[]
    trace: readonly string[]
    messageId: string
  }) =>
    `a signed header field was changed or removed after signing, and which one cannot be known (signed: ${shown(names.slice(0, 20).join(', '))}${absent.length === 0 ? '' : `; not in the message: ${shown(absent.slice(0, 20).join(', '))}`})${trace.length === 0 ? '' : `; servers on the way replace ${shown(trace.slice(0, 5).join(', '))}`}${messageId === '' ? '' : `; the Message-ID is of ${shown(messageId)}, so a relay may have written it anew`}${simple ? '; the signature (c=simple) allows no change at all, not even other folding' : ''}`,
  body: ({ simple }: { simple: boolean }) =>
    `the body was changed after signing${simple ? '; the signature (c=simple) allows no change of white space' : ''}`,
})

export const dmarcResultProblem = problemsOf('message_dmarc', {
  no_author: () => 'the message has no author address with a domain',
  several_authors: ({ count }: { count: number }) => `the message has authors of ${count} domains`,
  unanswered: ({ why }: { why: Problem }, say) => say(why),
  no_record: () => 'the domain has no DMARC record',
  unusable: () => 'the DMARC record of the domain cannot be used',
  open: () => 'a lookup had no answer, so it is not known whether SPF or DKIM passes',
  body_missing: () =>
    'SPF does not pass for the domain, and its signature cannot be verified without the whole message as it was sent',
  spf_unknown: () =>
    'no signature passes for the domain, and SPF cannot be evaluated without the address of the connection and the envelope sender',
  nothing_aligned: () => 'neither SPF nor DKIM passes',
  unaligned: ({ methods, names }: { methods: string; names: readonly string[] }) =>
    `${shown(methods, 40)} for ${shown(names.join(', '))}, ${names.length === 1 ? 'which is not' : 'none of which is'} aligned with the domain of the author`,
  strict: ({ methods, names, tags }: { methods: string; names: readonly string[]; tags: string }) =>
    `${shown(methods, 40)} for ${shown(names.join(', '))}, but the DMARC record asks for the very domain of the author (strict alignment, ${shown(tags, 40)})`,
})

export const inboxError = errorsOf('inbox', {
  wrong_state: {
    closed: () => 'this service does not receive messages: its operator has not set --messages-listen',
    not_analysed: ({ state }: { state: string }) => `the state is ${shown(state)}: there is no analysis to store`,
  },
  limit_reached: {
    too_many: ({ max }: Max) =>
      `too many one-time addresses are waiting (at most ${max} for one key): wait until some expire`,
  },
  not_found: {
    unknown: () =>
      'there is no one-time address with this id; addresses end with the process that made them, and other nodes do not know them',
  },
})
