import fc from 'fast-check'
import { expect, it } from 'vitest'
import { corpus } from '../../../test/lab/corpora.ts'
import { POPULAR_DOMAINS } from '../../names/popular.ts'
import { hasDisposableHost, isDisposable } from './disposable.ts'
import { isFree } from './free.ts'
import { roleOf } from './role.ts'
import { editDistance, suggestDomain } from './suggest.ts'

it.each([
  ['mailinator.com', true],
  ['yopmail.com', true],
  ['anything.mailinator.com', true], // sub-domains are the same service
  ['a.b.c.yopmail.com', true],
  ['gmail.com', false],
  ['tom.com', false], // on a shipped list, and a real provider
  ['consultant.com', false], // of mail.com
  ['duck.com', false], // a relay to a lasting mailbox
  ['user.anonaddy.com', false],
  ['privaterelay.appleid.com', false],
  ['mozmail.com', false],
  ['simplelogin.com', false],
  ['company.za.com', false], // za.com is a public suffix: nobody below it is meant
  ['example.org', false],
  ['com', false],
  ['', false],
])('%j is disposable: %s', (domain, expected) => expect(isDisposable(domain)).toBe(expected))

it('no popular domain is disposable', () => expect(POPULAR_DOMAINS.filter(isDisposable)).toEqual([]))

it.each([
  [['mail.mailinator.com'], true],
  [['MX.YOPMAIL.COM.'], true],
  [['in.mail.tm'], true], // on no list of domains
  [['aspmx.l.google.com', 'mx.example.org'], false],
  [['mx.duck.com'], false],
  [[], false],
])('mail hosts %j are disposable: %s', (hosts, expected) => expect(hasDisposableHost(hosts)).toBe(expected))

it.each([
  ['gmail.com', true],
  ['yahoo.co.uk', true],
  ['hotmail.gr', true], // a country domain of a brand
  ['proton.me', true],
  ['0815.ru', true], // in the shipped list alone
  ['posteo.de', true], // among the popular ones alone
  ['mail.yahoo.com', false], // a host, no mail domain
  ['yahoo.shop', false],
  ['example.org', false],
])('%s is free: %s', (domain, expected) => expect(isFree(domain)).toBe(expected))

it.each([
  ['postmaster', 'postmaster'], // RFC 2142 §5
  ['ABUSE', 'abuse'],
  ['no-reply', 'noreply'],
  ['Customer.Support+ticket7', 'customersupport'],
  ['sales2', 'sales'],
  ['marketing_team', 'marketing'],
  ['john.smith', ''],
  ['salesman', ''], // whole words only
  ['+info', ''],
  ['', ''],
  ['info'.repeat(20_000), ''],
])('the role of %j is %j', (local, role) => expect(roleOf(local)).toBe(role))

it.each([
  ['gmial.com', 'gmail.com'],
  ['gmail.con', 'gmail.com'],
  ['gmail.org', 'gmail.com'], // nobody else gives mailboxes under that name
  ['hotmial.co.uk', 'hotmail.co.uk'],
  ['outlok.com', 'outlook.com'],
  ['yaho.com', 'yahoo.com'],
  ['company.con', 'company.com'],
  ['gmail.com', ''],
  ['mail.com', ''], // one letter from gmail.com, and a provider itself
  ['ymail.com', ''],
  ['gmx.fr', ''],
  ['web.dk', ''], // not web.de
  ['example.org', ''],
  ['constructor.org', ''], // a name that every object has
  ['mail.company.con', ''], // says too little
  ['', ''],
])('%j suggests %j', (domain, suggestion) => expect(suggestDomain(domain)).toBe(suggestion))

it('a suggestion needs no further one', () =>
  fc.assert(
    fc.property(
      fc.constantFrom(...POPULAR_DOMAINS),
      fc.nat(20),
      fc.constantFrom('', 'x', 'e', '.'),
      (domain, at, letter) => {
        const suggestion = suggestDomain(domain.slice(0, at) + letter + domain.slice(at + 1))
        if (suggestion !== '') expect(suggestDomain(suggestion)).toBe('')
      },
    ),
  ))

it('never throws', () =>
  fc.assert(
    fc.property(fc.string(), (text) => {
      suggestDomain(text)
      roleOf(text)
      isFree(text)
      isDisposable(text)
      hasDisposableHost([text])
    }),
  ))

it.each([
  [64, 1],
  [65, 3],
])('compares words of at most 64 characters: %i', (length, distance) => {
  const word = 'a'.repeat(length)
  expect(editDistance(word, `${word.slice(1)}b`, 2)).toBe(distance)
  expect(editDistance(word.slice(1), word, 2)).toBe(length === 64 ? 1 : 3)
  expect(editDistance(word, word.slice(1), 2)).toBe(length === 64 ? 1 : 3)
})

it.each(['a', 'a.', '.', 'gmail.'])('bears 64 KiB of %j', (part) => {
  const text = part.repeat(65_536 / part.length)
  expect([suggestDomain(text), roleOf(text), isFree(text), isDisposable(text)]).toEqual(['', '', false, false])
})

type Listed = {
  readonly kind: 'disposable' | 'free' | 'role'
  readonly value: string
  readonly expect: boolean
  readonly source: string
}
const SAYS = { disposable: isDisposable, free: isFree, role: (local: string) => roleOf(local) !== '' }

const flags: readonly Listed[] | undefined = corpus('lists/flags-tests.json')?.cases
it.skipIf(!flags)('answers the flag tests', () =>
  expect(flags!.filter((one) => SAYS[one.kind](one.value) !== one.expect)).toEqual([]),
)

/** Lists disagree at the edges: the share of each that we agree with, and why it is no more. */
const AGREEMENT: readonly (readonly [kind: string, source: string, share: number, why: string])[] = [
  ['disposable', 'disposable-email-domains/disposable-email-domains', 1, 'the list that is shipped'],
  ['free', 'AfterShip/email-verifier', 0.9, 'the rest are providers that closed'],
  [
    'free',
    'Kikobeats/free-email-domains',
    0.4,
    'half of that list is throw-away, parked and private domains, not providers',
  ],
  ['role', 'AfterShip/email-verifier', 0.85, 'the rest are years, cities, gadgets and teams of one company'],
]
const samples: readonly Listed[] | undefined = corpus('lists/list-samples.json')?.cases
it.skipIf(!samples).each(AGREEMENT)('agrees on %s with %s for at least %s', (kind, source, share) => {
  const rows = samples!.filter((one) => one.kind === kind && one.source === source)
  const agreed = rows.filter((one) => SAYS[one.kind](one.value) === one.expect)
  expect(rows.length).toBeGreaterThan(0)
  expect(agreed.length / rows.length).toBeGreaterThanOrEqual(share)
})

/**
 * Typos that we answer otherwise. Cases made with a candidate list of their own that has none of our domains are among
 * them.
 */
const OTHERWISE: Readonly<Record<string, string>> = {
  'test@emaildomain.co': 'their candidate list: emaildomain.com is no provider',
  'test@zopo.com': 'a name of four letters with another letter is as likely a name of its own',
  'homail.aftership': 'their candidate list; no such ending',
  'ttmail.com': 'two slips, the first letter among them: as near to hotmail.com',
  'hotmail.cl': 'a real provider',
}
type Typo = { readonly input: string; readonly suggestion: string | null; readonly source: string }
const typos: readonly Typo[] | undefined = corpus('typo/typos.json')?.cases
it.skipIf(!typos)('suggests what the public typo tests expect', () => {
  // "-closest" cases test a function that picks from a list, not a suggestion.
  const judged = typos!.filter(({ source, input }) => !source.endsWith('-closest') && !(input in OTHERWISE))
  const differ = judged.filter(({ input, suggestion }) => suggestDomain(input.split('@').pop()!) !== (suggestion ?? ''))
  expect(differ).toEqual([])
  expect(judged.length).toBeGreaterThan(80)
})
