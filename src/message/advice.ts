import type { Problem } from '../base/problem.ts'
import { list } from '../checks/check.ts'

/** What the advice depends on besides the cause. */
type AdviceContext = {
  /** The message came through a mailing list. */
  readonly isList: boolean
  readonly key: string
  readonly domain: string
}

// biome-ignore lint/suspicious/noExplicitAny: the values of each cause have their own shape (problems.ts)
type Advice = string | ((values: any, context: AdviceContext) => string)

const SIGNER = 'Correct the configuration of the signer, or update it: every signature that it writes has this fault.'
const OF_LIST =
  'Nothing in your DNS helps: the list has to replace the address in From by its own ("DMARC mitigation", "munge From"), or to leave the message as it is; receivers may also trust the ARC seal of the list.'
const BEHIND =
  'Sign behind the host that changes the message (gateway, relay, filter): the last host that sends it to the outside has to make the signature.'
const RELAXED =
  'Sign with c=relaxed/relaxed: relays fold fields and strip blanks at the ends of lines, which breaks simple signatures.'
const SEVEN_BIT =
  'Send text as quoted-printable or base64, which is 7-bit and which no relay has to convert, or sign behind the relay that converts it.'
const ENCODED = 'Send the text as quoted-printable or base64, which has no such lines.'
const changed = (_: unknown, { isList }: AdviceContext): string => (isList ? OF_LIST : BEHIND)
const ofReceiver = ({ isList }: AdviceContext): string =>
  isList
    ? OF_LIST
    : `A warning like this is added by the receiver’s own gateway: there is nothing for the sender to do, and DKIM has to be verified before that gateway. If the gateway is yours: ${BEHIND}`
const added: Advice = ({ name, names = [name] }, { isList }) =>
  `${isList ? 'Lists add such fields: do' : 'Do'} not sign the absence of ${list(names)}: name each field in h= only as often as the message has it, or let the host that adds ${names.length === 1 ? 'it' : 'them'} do so before signing.`
const relaxedOr =
  (other: Advice): Advice =>
  (values, context) =>
    values.simple ? `${RELAXED} If that is not enough: ${told(other, values, context)}` : told(other, values, context)

/** What to do about each cause of a failed signature, by its id. */
export const ADVICE: Readonly<Record<string, Advice>> = {
  'signature.too_long': SIGNER,
  'signature.too_many_tags': SIGNER,
  'signature.not_a_tag': SIGNER,
  'signature.tag_twice': SIGNER,
  'signature.tag_missing': SIGNER,
  'signature.tag_invalid': SIGNER,
  'signature.expires_before_signing': 'Let the signer write x= later than t=, by five days or more, or leave x= out.',
  'signature.too_many_fields': 'Send the message with fewer header fields.',
  'signature.too_much_signed': 'Send the message with fewer signatures and fewer fields in h=.',
  'signature.from_unsigned': 'Name From in h= of the signer.',
  'signature.identity': ({ domain }) => `Leave the tag i= out of the signature, or let it end in ${domain}.`,
  'signature.strict_identity': (_, { key }) =>
    `Leave the tag i= out of the signature, or take t=s out of the key record ${key}.`,
  'signature.algorithm': 'Let the signer use rsa-sha256; ed25519-sha256 may stand beside it.',
  'signature.sha1': 'Let the signer use rsa-sha256; a key of 1024 bits or more can stay.',
  'signature.expired':
    'Let signatures live longer than mail waits in queues (x= at least five days after t=), or leave x= out. An old message is judged as of its time with at=.',
  'signature.no_answer': 'Analyse the message again.',
  'signature.key_gone': (_, { key }) =>
    `Publish the key with which the mail system signs as the record ${key}, as its administration shows it (TXT or CNAME), or let it sign with a selector that is published.`,
  'signature.key_dangling': ({ target }, { key }) =>
    `Turn on DKIM at the provider of ${target}, or replace the CNAME ${key} by the one that the provider shows today.`,
  'signature.key_revoked': (_, { key }) =>
    `Sign with another selector whose key is published: a revoked key does not come back, here ${key}.`,
  'signature.key_unusable': ({ why }, { key }) => {
    switch (why.id) {
      case 'dkim_key.truncated':
        return `Publish the whole key again at ${key}: one TXT record of several strings with at most 255 characters each.`
      case 'dkim_key.services':
        if (why.values.services.includes('tlsrpt'))
          return `Sign mail with a key without s=tlsrpt, under a selector of its own: ${key} is for TLS reports alone (RFC 8460 §3).`
        return `Take s= out of the key record ${key} (or write s=email), or sign mail with another selector.`
      case 'dkim_key.private':
        return `Make a new pair of keys, publish its public key under a new selector, sign with it, and remove ${key}: anybody can sign with what stands there.`
      case 'dkim_key.hashes':
        return `Take h= out of the key record ${key}, or name sha256 in it.`
      case 'dkim_record.base64':
        return `Publish the key again at ${key}, exactly as the signer shows it: p= holds letters, digits, +, / and = alone, no quotes.`
      default:
        return `Publish the key again at ${key}, exactly as the signer shows it.`
    }
  },
  'signature.key_type': ({ type, algorithm }, { key }) =>
    `Sign with the ${type} key of ${key}, or publish the key of the signer (${algorithm}) under a selector of its own.`,
  'signature.key_short': 'Publish a key of 2048 bits under a new selector, and sign with it.',
  'signature.other_key': ({ hasOthers }, { key }) =>
    hasOthers
      ? `Keep one TXT record at ${key}, that of the key that signs, and remove the others.`
      : `Publish the public key that belongs to the private key of the signer at ${key}, or give the signer the private key of the published one.`,
  'signature.other_selector': ({ selector }, { key }) =>
    `Let the signer write the selector ${selector} (s=), or publish the same key as ${key}.`,
  'signature.header_changed': changed,
  'signature.body_changed': changed,
  'signature.both_changed': changed,
  'signature.body_missing': 'Give the whole message, with its body.',
  'signature.copied': 'Give the message as a file.',
  'signature.body_short': 'Find the host that cuts the message, and sign without l=.',

  'change.footer': changed,
  'change.banner': (_, context) => ofReceiver(context),
  'change.markup_added': ({ place }, context) => (place === 'beginning' ? ofReceiver(context) : changed('', context)),
  'change.bom': changed,
  'change.bom_lost': 'Send the text without a byte order mark (U+FEFF) in front of it.',
  'change.lines_doubled': changed,
  'change.wrapped': changed,
  'change.encrypted': BEHIND,
  'change.recoded': SEVEN_BIT,
  'change.part_added': changed,
  'change.links_rewritten': ({ service }) =>
    `Nothing for the sender to do: ${service} is a filter of the receiver, which has to verify DKIM before it rewrites links. Analyse the message as it was before its filter.`,
  'change.reencoded_body': ({ from }, context) => (from === '8bit' ? SEVEN_BIT : changed('', context)),
  'change.reencoded': SEVEN_BIT,
  'change.from_escaped': ENCODED,
  'change.dots_doubled': `Repair the program that hands the message over: it doubles dots twice (RFC 5321 §4.5.2). ${ENCODED}`,
  'change.dots_lost': `Repair the program that hands the message over: it does not double dots (RFC 5321 §4.5.2). ${ENCODED}`,
  'change.first_line_lost': 'Begin the body with text, not with an empty line, which programs on the way remove.',
  'change.line_ends':
    'Let the signer sign the message as it is sent, where every line ends with CRLF (RFC 6376 §2.8, §5.3): convert the lines first, then sign.',
  'change.space_added': RELAXED,
  'change.lines_broken':
    'Send the text as quoted-printable or base64: no line may be longer than 998 octets (RFC 5322 §2.1.1).',
  'change.subject_tag': ({ tag }, context) =>
    /ext|caution|vorsicht|attention|warn|spam|junk|virus|phish/i.test(tag) ? ofReceiver(context) : changed('', context),
  'change.field_added': added,
  'change.fields_added': added,
  'change.field_removed': ({ names }) =>
    `Take ${list(names)} out of h=, or let the gateway or relay that removes ${names.length === 1 ? 'it' : 'them'} keep ${names.length === 1 ? 'it' : 'them'}.`,
  'change.field_replaced': changed,
  'change.rewritten': ({ name }, { isList }) =>
    isList ? OF_LIST : `Let the mail program write ${name} as the relay or gateway does. Otherwise: ${BEHIND}`,
  'change.renamed': RELAXED,
  'change.refolded': (_, { isList }) => (isList ? `${RELAXED} ${OF_LIST}` : RELAXED),
  'change.reordered': changed,
  'change.header': (values, context) =>
    values.trace.length > 0
      ? `Take ${list(values.trace)} out of h=: every server on the way writes or replaces such fields (RFC 6376 §5.4).`
      : told(relaxedOr(changed), values, context),
  'change.body': relaxedOr(changed),
  'change.two': ({ first, second }, context) =>
    [...new Set([adviceOn(first, context), adviceOn(second, context)])].join(' '),
}

const told = (advice: Advice, values: unknown, context: AdviceContext): string =>
  typeof advice === 'string' ? advice : advice(values, context)

/** What to do about a signature that fails for this cause, in one line. */
export const adviceOn = ({ id, values }: Problem, context: AdviceContext): string =>
  told(ADVICE[id] ?? SIGNER, values, context)
