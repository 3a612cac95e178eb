import { defineFindings, list } from '../check.ts'

export const findings = defineFindings({
  'dkim.proven_absent': {
    severity: 'high',
    title: 'No DKIM key',
    detail: ({ domain }) =>
      `The DNS says that there is nothing below _domainkey.${domain}: mail of this domain cannot be signed with its own name.`,
    repair: 'Make a key in the mail system and publish it under a selector.',
    reference: 'RFC 6376 §3.6.2.1',
  },
  'dkim.none_found': {
    severity: 'info',
    title: 'No DKIM key was found',
    detail: ({ tried, unguessable }) =>
      `${tried} common selectors have no key. Selectors cannot be listed, so that one may exist under another name${list(unguessable) ? ` (${list(unguessable)} uses selectors that cannot be guessed)` : ''}.`,
    repair: 'Give the selector: it is the s= tag of a DKIM-Signature header in a message of this domain.',
    reference: 'RFC 6376 §3.1',
  },
  'dkim.not_asked': {
    severity: 'info',
    title: 'Some selectors could not be asked',
    detail: ({ count, reason }) => `${count} questions stayed unanswered: ${reason}.`,
    reference: 'RFC 6376 §6.1.2',
  },
  'dkim.wildcard': {
    severity: 'low',
    title: 'Every selector has a record',
    detail: ({ domain }) =>
      `A made-up selector below _domainkey.${domain} has a record too (a wildcard), so that a record proves nothing.`,
    repair: 'Remove the wildcard, or publish nothing at it that looks like a key.',
    reference: 'RFC 6376 §6.1.2',
  },
  'dkim.wildcard_revoked': {
    severity: 'info',
    title: 'All other selectors are revoked',
    detail: ({ domain }) =>
      `A wildcard below _domainkey.${domain} has an empty key: signatures with a selector that is not published by itself fail.`,
    reference: 'RFC 6376 §3.6.1',
  },
  'dkim.no_key': {
    severity: 'medium',
    title: 'A selector has no key',
    detail: ({ selector }) =>
      `The selector ${selector}, which was asked for, has no DKIM key: signatures with it fail at every receiver.`,
    repair: 'Publish the key that the mail system gives for this selector, or correct the selector.',
    reference: 'RFC 6376 §6.1.2',
  },
  'dkim.dangling': {
    severity: 'medium',
    title: 'A selector points to nothing',
    detail: ({ selector, target }) =>
      `The selector ${selector} is an alias (CNAME) of ${target}, and there is no key: signatures with it fail.`,
    repair: 'Turn DKIM on at the provider that gave the alias, or remove it.',
    reference: 'RFC 6376 §6.1.2',
  },
  'dkim.broken_key': {
    severity: 'high',
    title: 'A DKIM key cannot be used',
    detail: ({ selector, problem }) => `The record of the selector ${selector} is no usable key: ${problem}.`,
    repair: 'Publish the key again as the mail system gives it, or remove the record.',
    reference: 'RFC 6376 §3.6.1',
  },
  'dkim.short_key': {
    severity: 'medium',
    title: 'A short DKIM key',
    detail: ({ selector, bits }) =>
      `The RSA key of the selector ${selector} has ${bits} bits; at least 2048 are advised.`,
    repair: 'Make a key of 2048 bits under a new selector, sign with it, and remove the old one a week later.',
    reference: 'RFC 8301 §3.2',
  },
  'dkim.long_key': {
    severity: 'low',
    title: 'A very long DKIM key',
    detail: ({ selector, bits }) =>
      `The RSA key of the selector ${selector} has ${bits} bits; receivers need not verify more than 4096.`,
    repair: 'Use a key of 2048 bits.',
    reference: 'RFC 8301 §3.2',
  },
  'dkim.revoked_key': {
    severity: 'info',
    title: 'A revoked DKIM key',
    detail: ({ selector }) =>
      `The key of the selector ${selector} is empty: it was revoked, and signatures with it fail.`,
    reference: 'RFC 6376 §3.6.1',
  },
  'dkim.only_revoked': {
    severity: 'high',
    title: 'No DKIM key is in use',
    detail: () => 'Every key that was found is revoked or cannot be used.',
    repair: 'Publish a key under a new selector and sign with it.',
    reference: 'RFC 6376 §3.6.1',
  },
  'dkim.testing': {
    severity: 'medium',
    title: 'DKIM keys are marked as a test',
    detail: ({ selectors }) =>
      `t=y stands in the record of ${list(selectors)}: receivers must not treat its signatures differently from none.`,
    repair: 'Remove t=y from the record.',
    reference: 'RFC 6376 §3.6.1',
  },
  'dkim.ed25519_only': {
    severity: 'medium',
    title: 'Only Ed25519 keys',
    detail: () => 'Many receivers cannot verify Ed25519 yet; mail signed with it alone is unsigned to them.',
    repair: 'Sign with an RSA key of 2048 bits beside it.',
    reference: 'RFC 8463 §3',
  },
  'dkim.several_records': {
    severity: 'medium',
    title: 'Several records at one selector',
    detail: ({ selector, count }) =>
      `The selector ${selector} has ${count} TXT records; which one a receiver takes is undefined.`,
    repair: 'Keep one.',
    reference: 'RFC 6376 §3.6.2.2',
  },
})
