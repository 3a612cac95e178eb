import { type Args, defineFindings, high, info, list, low, medium } from '../check.ts'

/** What to do, with the steps of the providers if they are known. */
const withSteps =
  (text: string) =>
  ({ steps }: Args): string | undefined =>
    Array.isArray(steps) && steps.length > 0 ? `${text} ${list(steps, ' ')}` : undefined
const LOOK_AT_MESSAGE =
  'Look at a message of this name: if the d= of a DKIM-Signature field is the organization, that key signs it. Otherwise sign with a key of its own.'
const andSteps = (text: string, args: Args): string => withSteps(text)(args) ?? text

export const findings = defineFindings({
  'dkim.proven_absent': high({
    title: 'No DKIM key',
    detail: ({ domain }) =>
      `Nothing exists below _domainkey.${domain}: no mail can be signed with the name of this domain.`,
    repair: 'Enable DKIM in the mail system, and publish its key under a selector.',
    advice: withSteps('Enable DKIM at the provider.'),
    reference: 'RFC 6376 §3.6.2.1',
  }),
  'dkim.doubled_name': high({
    title: 'DKIM key at a name with the domain twice',
    detail: ({ name, meant }) =>
      `The key is at ${name}, where no receiver looks it up: the name server appends the domain to a name without a final dot. Receivers query ${meant}.`,
    repair: 'Move the record to the name shown.',
    unoffered: 'Move the record to the name without the second domain.',
    reference: 'RFC 1035 §5.1',
  }),
  'dkim.none_found': info({
    title: 'No DKIM key found',
    detail: ({ tried, unguessable, reports }) =>
      `${tried} common selectors have no key${reports === undefined ? '' : ` for mail; that of ${list(reports)} is for TLS reports alone (s=tlsrpt)`}. Selectors cannot be listed, so one may exist under another name${list(unguessable) ? ` (selectors of ${list(unguessable)} cannot be guessed)` : ''}.`,
    repair: 'Give the selector: it is the s= tag of a DKIM-Signature header in a message of this domain.',
    advice: withSteps(
      'Give the selector: it is the s= tag of a DKIM-Signature header in a message of this domain. If messages have none, enable DKIM.',
    ),
    reference: 'RFC 6376 §3.1',
  }),
  'dkim.not_asked': info({
    title: 'Some DKIM selectors could not be checked',
    detail: ({ count, reason }) => `${count} queries were not answered: ${reason}.`,
    reference: 'RFC 6376 §6.1.2',
  }),
  'dkim.wildcard': low({
    title: 'DKIM key at every selector',
    detail: ({ domain }) =>
      `A random selector below _domainkey.${domain} also has a key record (a wildcard), so a record there proves nothing.`,
    repair:
      'Find out which selector your mail is signed with (s= in the DKIM-Signature field of a message), publish the key there, and only then remove the wildcard: until then it verifies your mail. Give the selector to get the record.',
    advice: ({ domain, names, text }) =>
      names === undefined
        ? undefined
        : `Publish the TXT record ${text} at ${list(names, ' and ')}, and only then remove *._domainkey.${domain}: until then it verifies your mail.`,
    reference: 'RFC 6376 §6.1.2',
  }),
  'dkim.wildcard_revoked': info({
    title: 'Empty DKIM key at all other selectors',
    detail: ({ domain }) =>
      `A wildcard below _domainkey.${domain} has an empty key: only selectors with a record of their own have a key.`,
    reference: 'RFC 6376 §3.6.1',
  }),
  'dkim.no_key': medium({
    title: 'DKIM selector without a key',
    detail: ({ selector }) =>
      `The requested selector ${selector} has no DKIM key: signatures with it fail at every receiver.`,
    repair: 'Publish the key that the mail system gives for this selector, or correct the selector.',
    advice: (args) =>
      andSteps(
        `Publish the key that the mail system gives for this selector at ${args.name}, or correct the selector.`,
        args,
      ),
    reference: 'RFC 6376 §6.1.2',
  }),
  'dkim.dangling': medium({
    title: 'DKIM alias without a key',
    detail: ({ selector, target, provider }) =>
      `${list(selector)} ${Array.isArray(selector) && selector.length > 1 ? 'are aliases' : 'is an alias'} (CNAME) of ${list(target)}, where there is no key: ${provider === undefined ? 'signatures with it fail.' : `${provider} does not sign mail of the domain with it.`}`,
    repair: 'Enable DKIM at the provider that gave the alias, or remove the alias.',
    advice: ({ steps }) => (typeof steps === 'string' ? steps : undefined),
    reference: 'RFC 6376 §6.1.2',
  }),
  'dkim.mailbox_key_missing': low({
    title: 'No DKIM key of the mailbox provider',
    detail: ({ provider, keys }) =>
      `The only keys found are those of ${list(keys)}. The mailboxes are at ${provider}, whose key was not found: mail from them may be unsigned.`,
    repair: 'Turn on DKIM at the mailbox provider, or give its selector.',
    advice: withSteps('Turn on DKIM at the mailbox provider, or give its selector.'),
    reference: 'RFC 6376 §3.1',
  }),
  'dkim.next_key': info({
    title: 'DKIM selector for the next key',
    detail: ({ selector, target, provider }) =>
      `The selector ${selector} is an alias (CNAME) of ${target}, where ${provider} publishes a key at the next rotation; the current key is at another selector.`,
    reference: 'RFC 6376 §3.1',
  }),
  'dkim.broken_key': high({
    title: 'Unusable DKIM key',
    detail: ({ selector, problem }) => `The key of the selector ${selector} cannot be used: ${problem}.`,
    repair: 'Publish the key again as the mail system gives it, or remove the record.',
    advice: (args, isOffered) =>
      isOffered
        ? 'Publish the record shown. An empty p= in it revokes the key: sign with another one first.'
        : withSteps('Publish the key again as the mail system gives it, or remove the record.')(args),
    reference: 'RFC 6376 §3.6.1',
  }),
  'dkim.short_key': medium({
    title: 'DKIM key too short',
    detail: ({ selector, bits }) =>
      `The RSA key of the selector ${selector} has ${bits} bits; at least 2048 are recommended.`,
    repair: 'Create a key of 2048 bits under a new selector, sign with it, and remove the old one a week later.',
    reference: 'RFC 8301 §3.2',
  }),
  'dkim.long_key': low({
    title: 'DKIM key too long',
    detail: ({ selector, bits }) =>
      `The RSA key of the selector ${selector} has ${bits} bits; receivers need not verify more than 4096.`,
    repair: 'Use a key of 2048 bits.',
    reference: 'RFC 8301 §3.2',
  }),
  'dkim.revoked_key': info({
    title: 'Revoked DKIM key',
    detail: ({ selector }) =>
      `The key of the selector ${selector} is empty: it was revoked, and signatures with it fail.`,
    reference: 'RFC 6376 §3.6.1',
  }),
  'dkim.reports_key': info({
    title: 'DKIM key for TLS reports',
    detail: ({ selector }) =>
      `The key of the selector ${selector} is for TLS reports that the domain sends (s=tlsrpt), and not for mail.`,
    reference: 'RFC 8460 §3',
  }),
  'dkim.parent_key': medium({
    title: 'No DKIM key of its own; the organization has one',
    detail: ({ domain, parent, selector }) =>
      `${domain} has no key that could be found. Mail that is signed with the key of ${parent} (selector ${selector}) passes DMARC, because the alignment is relaxed; whether it is signed so cannot be seen in the DNS.`,
    repair: LOOK_AT_MESSAGE,
    advice: withSteps(LOOK_AT_MESSAGE),
    reference: 'RFC 9989 §4.4.1',
  }),
  'dkim.key_without_sender': medium({
    title: 'A DKIM key at a domain whose SPF record lets nobody send',
    detail: ({ selectors, services }) =>
      `${list(selectors)}${((services ?? []) as readonly string[]).length > 0 ? ` (${list(services)})` : ''}: a service may still send and sign as the domain, with a return path of its own.`,
    repair:
      'Ask whoever uses the key whether mail is still sent with it: if so, it is a sender and the DMARC policy rises in stages; if not, remove the key, and the domain may reject everything.',
    reference: 'RFC 6376 §3.6',
  }),
  'dkim.only_revoked': high({
    title: 'No usable DKIM key',
    detail: () => 'Every key that was found is revoked or unusable.',
    repair: 'Publish a key under a new selector and sign with it.',
    advice: (args) =>
      andSteps(
        `Publish a key under a new selector, sign with it, and stop signing with ${list(args.selectors)}.`,
        args,
      ),
    reference: 'RFC 6376 §3.6.1',
  }),
  'dkim.testing': medium({
    title: 'DKIM keys in test mode',
    detail: ({ selectors }) =>
      `The key of ${list(selectors)} has t=y: receivers must not treat a message signed with it differently from an unsigned one.`,
    repair: 'Remove t=y from the record.',
    reference: 'RFC 6376 §3.6.1',
  }),
  'dkim.ed25519_only': medium({
    title: 'Only Ed25519 DKIM keys',
    detail: () => 'Many receivers cannot verify Ed25519 yet: to them, mail signed with it alone is unsigned.',
    repair: 'Also sign with an RSA key of 2048 bits.',
    reference: 'RFC 8463 §3',
  }),
  'dkim.several_records': medium({
    title: 'Several DKIM records at one selector',
    detail: ({ selector, count }) =>
      `The selector ${selector} has ${count} TXT records; which one a receiver uses is undefined.`,
    repair: 'Keep one record.',
    advice: ({ forReports }) =>
      forReports
        ? 'Publish the key for TLS reports (s=tlsrpt) under a selector of its own, sign the reports with that one, and then keep one record here.'
        : undefined,
    reference: 'RFC 6376 §3.6.2.2',
  }),
})
