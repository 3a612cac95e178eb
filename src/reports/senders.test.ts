import { describe, expect, it } from 'vitest'
import { labFacts, labSource, STRANGE } from '../../test/lab/reports.ts'
import { providerById } from '../providers/index.ts'
import type { SenderWord } from '../store/postgres/report-notes.ts'
import type { SourceSum } from '../store/postgres/report-sums.ts'
import type { SenderFacts } from './home.ts'
import { policyOutcome, policyOutcomeInTurns, stepUpOf } from './policy.ts'
import { findSenders } from './senders.ts'

type Rows = readonly Partial<SourceSum>[]
const found = (rows: Rows, facts: Partial<SenderFacts> = {}) =>
  findSenders(
    rows.map((row, i) => labSource({ number: i + 1, ...row })),
    labFacts(facts),
  )
const told = async (rows: Rows, facts: Partial<SenderFacts> = {}) =>
  (await found(rows, facts)).map(({ name, verdict }) => `${name}: ${verdict}`)

const include = (target: string) => ({
  spfOf: () => ({ text: `include:${target}`, include: true, domain: 'example.org' }),
})
const passes = { spf_aligned: true, spf_result: 'pass' } as const
const signed = (domain: string, selector: string, aligned = false): Partial<SourceSum> => ({
  ...{
    dkim_domain: domain,
    dkim_selector: selector,
    dkim_result: 'pass',
    dkim_aligned: aligned,
    signers: `${domain}:${selector}`,
  },
})
/** One day, the last. */
const brief = { recent_days: 1, first_day: '2026-11-23' } as const

describe('a sender is named by the strongest evidence', () => {
  it.each<[string, Rows, Partial<SenderFacts>, string]>([
    ["a provider's own signature", [signed('mcsv.net', 'k2')], {}, 'Mailchimp: needs_setup'],
    [
      '… before the include that contains the address',
      [signed('mcsv.net', 'k2')],
      include('_spf.google.com'),
      'Mailchimp: needs_setup',
    ],
    ['the include that contains the address', [passes], include('_spf.google.com'), 'Google Workspace: authorized'],
    ['an include of nobody known', [passes], include('spf.crm.example'), 'spf.crm.example: authorized'],
    ["a provider's host", [{}], { hostOf: () => 'a8-31.smtp-out.amazonses.com' }, 'Amazon SES: needs_setup'],
    [
      'a selector that one provider tells its customers to publish',
      [signed('example.org', 'brevo1', true)],
      {},
      'Brevo: authorized',
    ],
    [
      "the domain's own host",
      [passes],
      { hostOf: () => 'mail.example.org' },
      'mail.example.org (your own server): authorized',
    ],
    [
      "a provider's return path that passes SPF",
      [{ envelope_from: 'bounces.em1.example.net', spf_domain: 'u1.ct.sendgrid.net', spf_result: 'pass' }],
      {},
      'SendGrid: needs_setup',
    ],
    [
      '… and not one that fails',
      [{ envelope_from: 'u1.ct.sendgrid.net', spf_domain: 'u1.ct.sendgrid.net' }],
      {},
      'unknown senders in 192.0.2.0/24: unknown',
    ],
    [
      "the domain's MX host, whatever its PTR is",
      [{}],
      { mailHostOf: () => 'mx.example.com', hostOf: () => 'static.1.2.0.192.clients.your-server.de' },
      'mx.example.com (your mail host): needs_setup',
    ],
    [
      'a mail host of the provider of its MX',
      [{}],
      { hostOf: () => 'mo4-p00-ob.smtp.rzone.de', mailProviders: new Set([providerById('strato')!]) },
      'STRATO: needs_setup',
    ],
    [
      '… of another: anybody forwards there',
      [{}],
      { hostOf: () => 'mo4-p00-ob.smtp.rzone.de' },
      'STRATO (rzone.de): unknown',
    ],
    [
      'a gateway of others',
      [{}],
      { hostOf: () => 'mx-relay1-hz1.antispameurope.com' },
      'Hornetsecurity (antispameurope.com): unknown',
    ],
    ['a service without steps of its own', [signed('u1.emailsys1a.net', 's1')], {}, 'rapidmail: needs_setup'],
    ['another verified signature', [signed('mail.crm.example', 's1')], {}, 'crm.example: unknown'],
    [
      '… before the host',
      [signed('crm.example', 's1')],
      { hostOf: () => 'dsl-1.isp.example.net' },
      'crm.example: unknown',
    ],
    [
      'another return path that passes SPF',
      [{ envelope_from: 'bounce.crm.example', spf_domain: 'bounce.crm.example', spf_result: 'pass' }],
      {},
      'crm.example: unknown',
    ],
    [
      '… of a web host: so have its other customers',
      [{ envelope_from: 'www8.your-server.de', spf_domain: 'www8.your-server.de', spf_result: 'pass' }],
      {},
      'Hetzner (your-server.de): unknown',
    ],
    ["a stranger's host", [{}], { hostOf: () => 'dsl-1.isp.example.net' }, 'example.net: unknown'],
    ['a mailbox provider of everybody', [{}], { hostOf: () => 'mout.gmx.net' }, 'GMX and WEB.DE (gmx.net): unknown'],
    [
      'a rented server: its name says nothing',
      [{}],
      { hostOf: () => 'static.1.2.0.192.clients.your-server.de' },
      'unknown senders in 192.0.2.0/24 (servers of Hetzner): unknown',
    ],
    [
      'the network',
      [{}],
      { networkOf: () => ({ name: 'Example Telecom' }) },
      'unknown senders in Example Telecom: unknown',
    ],
    ['nothing', [{}], {}, 'unknown senders in 192.0.2.0/24: unknown'],
  ])('%s', async (_, rows, facts, expected) => expect(await told(rows, facts)).toEqual([expected]))
})

describe('the first row of the table of verdicts that fits', () => {
  it.each<[string, Rows, Partial<SenderFacts>, readonly string[]]>([
    [
      'half passes',
      [{ ...passes, messages: 50 }, { messages: 50 }],
      include('_spf.google.com'),
      ['Google Workspace: authorized'],
    ],
    [
      'less than half passes',
      [{ ...passes, messages: 49 }, { messages: 51 }],
      include('_spf.google.com'),
      ['Google Workspace: needs_setup'],
    ],
    [
      'the first passing message is enough',
      [{ ...passes, messages: 1, ...brief, last_reporter: 1 }],
      include('_spf.google.com'),
      ['Google Workspace: authorized'],
    ],
    [
      'a receiver says forwarded',
      [{ reason: 'forwarded' }],
      { hostOf: () => 'mout.gmx.net' },
      ['forwarded by gmx.net: forwarded'],
    ],
    [
      'a receiver says mailing_list',
      [{ reason: 'mailing_list', envelope_from: 'lists.debian.org' }],
      {},
      ['forwarded by debian.org: forwarded'],
    ],
    [
      '… but its address is in the SPF record',
      [{ reason: 'forwarded', ...passes }],
      include('_spf.google.com'),
      ['Google Workspace: authorized'],
    ],
    ['local_policy is no forwarding', [{ reason: 'local_policy' }], {}, ['unknown senders in 192.0.2.0/24: unknown']],
    [
      'a gateway, whose zone does not name it',
      [{ reason: 'forwarded' }],
      { hostOf: () => 'mx0a-001.pphosted.com' },
      ['forwarded by pphosted.com (Proofpoint): forwarded'],
    ],
    ['a known forwarder', [{}], { hostOf: () => 'mx1.improvmx.com' }, ['forwarded by ImprovMX: forwarded']],
    [
      'it carries a selector that an authorized sender uses more',
      [
        { ...signed('example.org', 'google', true), ...passes, messages: 900 },
        { ...signed('example.org', 'google', true), address: '192.0.2.9', messages: 20 },
      ],
      {
        spfOf: (address) => (address === '192.0.2.1' ? include('_spf.google.com').spfOf() : undefined),
        hostOf: (address) => (address === '192.0.2.9' ? 'mx.alumni.example.edu' : undefined),
      },
      ['Google Workspace: authorized', 'forwarded by example.edu: forwarded'],
    ],
    [
      'a return path below the domain that passes SPF is related',
      [{ envelope_from: 'bounce.example.org', spf_result: 'pass' }],
      {},
      ['unknown senders in 192.0.2.0/24: needs_setup'],
    ],
    [
      '… and not one that fails: a forger writes it',
      [{ envelope_from: 'bounce.example.org' }],
      {},
      ['unknown senders in 192.0.2.0/24: unknown'],
    ],
    [
      'a return path at the domain is what forgers write',
      [{ envelope_from: 'example.org' }],
      {},
      ['unknown senders in 192.0.2.0/24: unknown'],
    ],
    [
      'a signature that verifies by a key in its zone',
      [{ dkim_domain: 'example.org', dkim_selector: 'crm', dkim_result: 'pass' }],
      { hasKey: () => true },
      ['unknown senders in 192.0.2.0/24: needs_setup'],
    ],
    [
      '… and not one that fails: the selector is public',
      [{ dkim_domain: 'example.org', dkim_selector: 'crm', dkim_result: 'fail' }],
      { hasKey: () => true },
      ['unknown senders in 192.0.2.0/24: unknown'],
    ],
    [
      'nothing passes, on 3 of 28 days',
      [{ recent_days: 0b111, first_day: '2026-11-21' }],
      {},
      ['unknown senders: forged'],
    ],
    [
      'nothing passes, on 4 of 28 days',
      [{ recent_days: 0b1111, first_day: '2026-11-20' }],
      {},
      ['unknown senders in 192.0.2.0/24: unknown'],
    ],
    ['nothing passes, on every day, listed', [{}], { isListed: () => true }, ['unknown senders: forged']],
    [
      'a botnet: each address on one day, all of them on each',
      [1, 2, 3, 4, 5].map((i) => ({
        address: `192.0.2.${i}`,
        recent_days: 1 << i,
        first_day: '2026-11-01',
        last_day: '2026-11-20',
      })),
      {},
      ['unknown senders: forged'],
    ],
    [
      'a steady stranger, and the domain says that it sends nothing',
      [{}],
      { sendsNothing: true },
      ['unknown senders in 192.0.2.0/24: forged'],
    ],
    [
      'four own hosts of one zone and one verdict are one line, a fifth of another verdict is its own',
      [1, 2, 3, 4, 5].map((n) => ({ address: `192.0.2.${n}`, ...(n < 5 && passes) })),
      { hostOf: (address) => `relay${address.at(-1)}.example.org` },
      ['4 servers of example.org (your own): authorized', 'relay5.example.org (your own server): needs_setup'],
    ],
    [
      'four addresses of one term of the SPF record and one verdict are one line',
      [1, 2, 3, 4].map((n) => ({ address: `192.0.2.${n}` })),
      { spfOf: () => ({ text: 'ip4:192.0.2.0/28', include: false, domain: 'example.org' }) },
      ['4 addresses in ip4:192.0.2.0/28 of your SPF record: needs_setup'],
    ],
    [
      'the mail of one address is one sender: signed by the domain or not',
      [{ ...signed('example.org', 's1', true), messages: 40 }, {}],
      { hasKey: () => true },
      ['unknown senders in 192.0.2.0/24: needs_setup'],
    ],
    [
      '… signed by a stranger or not, from a host with a name',
      [{ ...signed('crm.example', 's1'), messages: 40 }, {}],
      { hostOf: () => 'dsl-1.isp.example.net' },
      ['crm.example: unknown'],
    ],
    [
      'forwarders without a name in two networks are two',
      [{ reason: 'forwarded' }, { reason: 'forwarded', address: '192.0.3.1', messages: 50 }],
      {},
      ['forwarded by 192.0.2.0/24: forwarded', 'forwarded by 192.0.3.0/24: forwarded'],
    ],
    [
      'strangers in two networks are two questions',
      [{}, { address: '192.0.3.1', messages: 50 }],
      {},
      ['unknown senders in 192.0.2.0/24: unknown', 'unknown senders in 192.0.3.0/24: unknown'],
    ],
    ['9 messages are too few', [{ messages: 9 }], include('_spf.google.com'), ['Google Workspace: unknown']],
    [
      'one reporter on one day is too little',
      [{ ...brief, last_reporter: 1 }],
      include('_spf.google.com'),
      ['Google Workspace: unknown'],
    ],
    ['two reporters on one day', [brief], include('_spf.google.com'), ['Google Workspace: needs_setup']],
    [
      'only reporters that nobody knows',
      [{ ...passes, ...STRANGE }],
      include('_spf.google.com'),
      ['Google Workspace: unknown'],
    ],
    [
      'others say that a stranger passes, with far more mail',
      [{ messages: 300 }, { ...signed('example.org', 's1', true), messages: 140_000, ...STRANGE }],
      {},
      ['unknown senders in 192.0.2.0/24: unknown'],
    ],
    [
      "others say that the domain's own server fails, with far more mail",
      [
        { ...passes, messages: 60 },
        { messages: 140_000, ...STRANGE },
      ],
      { hostOf: () => 'mail.example.org' },
      ['mail.example.org (your own server): authorized'],
    ],
    [
      'others give no second reporter and no second day',
      [
        { ...brief, last_reporter: 1 },
        { ...STRANGE, dkim_selector: 'x' },
      ],
      include('_spf.google.com'),
      ['Google Workspace: unknown'],
    ],
    [
      'the SPF record has no answer',
      [{}],
      { isSpfKnown: false, ...include('_spf.google.com') },
      ['Google Workspace: unknown'],
    ],
    [
      '… which does not matter to what passes',
      [passes],
      { isSpfKnown: false, ...include('_spf.google.com') },
      ['Google Workspace: authorized'],
    ],
  ])('%s', async (_, rows, facts, expected) => expect(await told(rows, facts)).toEqual(expected))
})

it.each<[string, Rows, Partial<SenderFacts>, RegExp | undefined]>([
  [
    'needs_setup',
    [signed('mcsv.net', 'k2')],
    {},
    /^Set up DKIM for example\.org\. Publish two CNAME records, k2\._domainkey\.example\.org/,
  ],
  [
    'authorized without DKIM: what passes is not told to be signed',
    [passes],
    { hostOf: () => 'mail.example.org' },
    undefined,
  ],
  [
    'a key that is gone since a day',
    [
      { ...signed('example.org', 's1', true), last_day: '2026-11-18' },
      { dkim_domain: 'example.org', dkim_selector: 's1', dkim_result: 'fail', first_day: '2026-11-19' },
    ],
    { hostOf: () => 'mail.example.org' },
    /^Since 2026-11-19 all of its mail fails: the key s1 of example\.org is not published any more/,
  ],
  [
    '… within the day, and a forwarder broke some mail all the time',
    [
      { ...signed('example.org', 's1', true), last_day: '2026-11-19', messages: 900 },
      { dkim_domain: 'example.org', dkim_selector: 's1', dkim_result: 'fail', first_day: '2026-11-19' },
      { dkim_domain: 'example.org', dkim_selector: 's1', dkim_result: 'neutral', messages: 9 },
    ],
    { hostOf: () => 'mail.example.org', hasKey: () => false },
    /^Since 2026-11-19 all of its mail fails: the key s1 of example\.org is not published any more/,
  ],
  [
    '… of a hundred addresses',
    Array.from({ length: 200 }, (_, n) => ({
      ...{ address: `192.0.2.${n % 100}`, messages: 5 },
      ...(n < 100
        ? { ...signed('example.org', 's1', true), last_day: '2026-11-18' }
        : { dkim_domain: 'example.org', dkim_selector: 's1', dkim_result: 'fail', first_day: '2026-11-19' }),
    })),
    { hostOf: () => 'mail.example.org', hasKey: () => false },
    /^Since 2026-11-19 all of its mail fails: the key s1 of example\.org is not published any more/,
  ],
  [
    'what fails since a day while the DNS does not say whether the key is there',
    [
      { ...signed('example.org', 's1', true), last_day: '2026-11-18' },
      { dkim_domain: 'example.org', dkim_selector: 's1', dkim_result: 'fail', first_day: '2026-11-19' },
    ],
    { hostOf: () => 'mail.example.org', hasKey: () => undefined },
    /^Since 2026-11-19 all of its mail fails: find out what was changed then/,
  ],
  [
    'only the last day fails: too little for that',
    [
      { ...signed('example.org', 's1', true), last_day: '2026-11-22' },
      { first_day: '2026-11-23', recent_days: 1 },
    ],
    { hostOf: () => 'mail.example.org' },
    /^100 of its 200 messages fail: 192\.0\.2\.1 is not in the SPF record of example\.org\. Name it there/,
  ],
  [
    'the mail host over IPv6, which SPF does not name',
    [{ ...passes, messages: 900 }, { address: '2001:db8::1' }],
    {
      mailHostOf: () => 'mx.example.org',
      spfOf: (address) => (address === '192.0.2.1' ? { text: 'mx', include: false, domain: 'example.org' } : undefined),
    },
    /^100 of its 1000 messages fail: 2001:db8::1 is not in the SPF record of example\.org\. Name it there/,
  ],
  [
    'a part of a service that signs for itself alone',
    [
      { ...signed('example.org', 'a', true), signers: 'example.org:a amazonses.com:b' },
      { ...signed('amazonses.com', 'b'), messages: 50 },
    ],
    {},
    /^50 of its 150 messages fail: nothing signs them for example\.org, a second account .* Amazon SES perhaps/,
  ],
  [
    'a signature that does not hold on a part of its mail',
    [
      { ...signed('example.org', 's1', true), ...passes },
      { dkim_domain: 'example.org', dkim_selector: 's1', dkim_result: 'fail', messages: 50 },
    ],
    { ...include('_spf.google.com'), hasKey: () => true },
    /^50 of its 150 messages fail: their signature s1 of example\.org does not hold/,
  ],
  [
    'a few that a forwarder broke',
    [
      { ...signed('example.org', 's1', true), ...passes, messages: 9_900 },
      { dkim_domain: 'example.org', dkim_selector: 's1', dkim_result: 'fail' },
    ],
    { ...include('_spf.google.com') },
    undefined,
  ],
  [
    'a record that does not name it any more',
    [
      { ...passes, envelope_from: 'example.org', last_day: '2026-11-18' },
      { envelope_from: 'example.org', first_day: '2026-11-19' },
    ],
    { hostOf: () => 'mail.example.org' },
    /^Since 2026-11-19 all of its mail fails: the SPF record of example\.org does not name 192\.0\.2\.1/,
  ],
  [
    'a sender that was set up',
    [
      { ...signed('mcsv.net', 'k2'), last_day: '2026-11-12', messages: 500 },
      { ...signed('example.org', 'k2', true), signers: 'example.org:k2 mcsv.net:k1', first_day: '2026-11-13' },
    ],
    {},
    /^Since 2026-11-13 all of its mail passes: nothing to do/,
  ],
  ['authorized with all', [{ ...passes, ...signed('example.org', 's1', true) }], include('_spf.google.com'), undefined],
  ['forwarded', [{ reason: 'forwarded' }], {}, undefined],
  ['forged', [{ recent_days: 1, first_day: '2026-11-23' }], {}, undefined],
  ['unknown', [{}], {}, /^Is this yours\?.* a stricter policy refuses it\.$/],
  ['unknown, of a few messages', [{ messages: 3 }], {}, undefined],
  ['unknown, in the SPF record', [{ messages: 3 }], include('spf.crm.example'), undefined],
  [
    'unknown, of which others say that it passes: it is neither to be signed nor refused',
    [{ ...passes, ...signed('example.org', 's1', true), ...STRANGE }],
    {},
    /^Is this yours\? If it is, its mail passes(?!.*(?:sign|refuse))/,
  ],
  [
    'unknown, of which a part passes',
    [{ ...passes, messages: 20 }, {}],
    {},
    /^Is this yours\? If it is, sign the rest .*find out why a part of it passes/,
  ],
])('what to do about %s', async (_, rows, facts, expected) => {
  const { to_do } = (await found(rows, facts))[0]!
  if (expected === undefined) expect(to_do).toBeUndefined()
  else expect(to_do).toMatch(expected)
})

describe('the word of the owner', () => {
  const word = (sender: string, ours: boolean, addresses: readonly string[] = []): SenderWord => ({
    ...{ sender, ours, addresses, note: '', by: '', at: new Date(Date.UTC(2026, 10, 20)) },
  })
  const dsl = { hostOf: () => 'dsl-1.isp.example.net' }
  it.each<[string, Rows, Partial<SenderFacts>, readonly string[]]>([
    [
      'what is ours needs a setup',
      [{}],
      { ...dsl, words: [word('host:example.net', true)] },
      ['example.org:host:example.net: needs_setup Sign its mail'],
    ],
    [
      '… or passes',
      [{ ...passes }],
      { ...dsl, words: [word('host:example.net', true)] },
      ['example.org:host:example.net: authorized '],
    ],
    [
      'what is not ours is not, and nothing is to do; also what looks forged of it, and what verifies by a key of ours',
      [{}, { address: '192.0.2.2', ...brief }, { address: '192.0.2.3', ...signed('example.org', 's1') }],
      { ...dsl, hasKey: () => true, words: [word('host:example.net', false)] },
      ['example.org:host:example.net: not_ours '],
    ],
    [
      'what is not ours and passes asks for what lets it',
      [{ ...passes, ...signed('example.org', 's1', true), envelope_from: 'example.org' }],
      { ...dsl, words: [word('host:example.net', false)] },
      ['example.org:host:example.net: authorized It passes as you'],
    ],
    [
      'a provider that is not ours, in a few messages too',
      [{ ...signed('mcsv.net', 'k2'), messages: 2 }],
      { words: [word('provider:mailchimp', false)] },
      ['example.org:provider:mailchimp: not_ours '],
    ],
    [
      'a forwarder that is ours needs a setup',
      [{ reason: 'forwarded' }],
      { hostOf: () => 'mout.gmx.net', words: [word('forward:gmx.net', true)] },
      ['example.org:forward:gmx.net: needs_setup Sign its mail'],
    ],
    [
      'other addresses of a network are asked anew',
      [{ messages: 300 }, { address: '192.0.2.9' }],
      { words: [word('network:192.0.2.0-24', false, ['192.0.2.1'])] },
      ['example.org:network:192.0.2.0-24: not_ours ', 'example.org:network:192.0.2.0-24:2: unknown Is this yours?'],
    ],
    [
      '… and a second word about them leaves the third open',
      [{ messages: 300 }, { address: '192.0.2.9' }, { address: '192.0.2.10', messages: 50 }],
      {
        words: [
          word('network:192.0.2.0-24', false, ['192.0.2.1']),
          word('network:192.0.2.0-24:2', true, ['192.0.2.9']),
        ],
      },
      [
        'example.org:network:192.0.2.0-24: not_ours ',
        'example.org:network:192.0.2.0-24:2: needs_setup Sign its mail',
        'example.org:network:192.0.2.0-24:3: unknown Is this yours?',
      ],
    ],
    [
      'the id stays when a name is found',
      [{}],
      { ...dsl, words: [word('network:192.0.2.0-24', true, ['192.0.2.1'])] },
      ['example.org:network:192.0.2.0-24: needs_setup Sign its mail'],
    ],
    [
      'own servers of one zone are kept by their addresses',
      [1, 2, 3, 4, 5].map((n) => ({ address: `192.0.2.${n}`, messages: n === 5 ? 50 : 100 })),
      {
        hostOf: (address) => `relay${address.at(-1)}.example.org`,
        words: [word('hosts:example.org:needs_setup', false, ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'])],
      },
      [
        'example.org:hosts:example.org:needs_setup: not_ours ',
        'example.org:host:relay5.example.org: needs_setup Sign its mail',
      ],
    ],
  ])('%s', async (_, rows, facts, expected) =>
    expect(
      (await found(rows, facts)).map(
        ({ id, verdict, to_do = '' }) =>
          `${id}: ${verdict} ${/^(?:Sign its mail|It passes as you|Is this yours\?|)/.exec(to_do)?.[0]}`,
      ),
    ).toEqual(expected),
  )
  it('is in no price of a policy', async () => {
    const senders = await found([{}, signed('mcsv.net', 'k2')], { words: [word('provider:mailchimp', false)] })
    const { affected, messages } = policyOutcome(senders, 'reject', {
      passesOf: () => undefined,
      adkim: 'r',
      aspf: 'r',
    })
    expect([messages, affected.map(({ sender }) => sender.key)]).toEqual([200, ['network:192.0.2.0-24']])
  })
})

it('texts of strangers stay data: a selector with a colon, an envelope that is no name', async () => {
  const [one] = await found([{ signers: 'example.org:a:b', dkim_domain: '<script>', envelope_from: '../../etc' }])
  expect(one).toMatchObject({ dkimDomains: ['<script>'], envelopeDomains: ['../../etc'] })
})

describe('a policy', async () => {
  const senders = await found(
    [
      { ...passes, envelope_from: 'example.org', messages: 900 },
      { address: '192.0.2.2', envelope_from: 'example.org', messages: 60 },
      { address: '192.0.2.3', ...signed('mcsv.net', 'k2'), envelope_from: 'mail1.mcsv.net', messages: 40 },
      { address: '192.0.2.4', envelope_from: '', messages: 5, ...passes },
    ],
    include('_spf.google.com'),
  )
  const all = (answer: boolean | null) => () => () => answer
  const tried = { passesOf: all(true), adkim: 'r', aspf: 'r' } as const
  it('none touches no mail', () => expect(policyOutcome(senders, 'none', tried).affected).toEqual([]))
  it('is tried on each address with its return path', () =>
    expect(policyOutcome(senders, 'reject', tried)).toMatchObject({
      messages: 1_005,
      passingBefore: 905,
      passingAfter: 965,
      notReevaluated: 5,
    }))
  it('a record that loses an address loses its mail', () =>
    expect(policyOutcome(senders, 'reject', { ...tried, passesOf: all(false) })).toMatchObject({ passingAfter: 5 }))
  it('a record that depends on the message leaves what was reported', () =>
    expect(policyOutcome(senders, 'reject', { ...tried, passesOf: all(null) })).toMatchObject({
      ...{ passingAfter: 905, notReevaluated: 965 },
    }))
  it('a step up is blocked by a sender of the domain that would lose more than 0.5 % of its own mail', () => {
    const { blockers } = stepUpOf(policyOutcome(senders, 'reject', tried))
    expect(blockers.map(({ sender, messages }) => [sender.name, messages])).toEqual([['Mailchimp', 40]])
  })
  it('a step up asks whether strangers are the domain, and not whether its own mail host is', async () => {
    const few = { messages: 6, known_messages: 6, recent_days: 0b1111 }
    const seen = await found(
      [
        { ...few, address: '192.0.2.1' },
        { ...few, address: '198.51.100.1' },
      ],
      {
        mailHostOf: (address) => (address === '192.0.2.1' ? 'mx.example.org' : undefined),
      },
    )
    const outcome = policyOutcome(seen, 'reject', tried)
    expect(outcome.affected).toHaveLength(2)
    const { unknown } = stepUpOf(outcome)
    expect(unknown.map(({ sender }) => sender.name)).toEqual([expect.stringContaining('unknown senders')])
  })
})

it('others get their turn while many sources are judged, and while a policy is tried on them', async () => {
  const sources = Array.from({ length: 60_000 }, (_, n) =>
    labSource({
      number: n,
      address: `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`,
      envelope_from: `b${n}.example.org`,
      dkim_domain: `d${n}.example.net`,
      dkim_selector: `s${n}`,
    }),
  )
  const facts = labFacts({ hostOf: (address) => (address.endsWith('.7') ? `mx.h${address}.example.net` : undefined) })
  const senders = await inSteps(() => findSenders(sources, facts))
  expect(senders.reduce((sum, { messages }) => sum + messages, 0)).toBe(6_000_000)
  const tried = { passesOf: () => undefined, adkim: 'r', aspf: 'r' } as const
  const outcome = await inSteps(() => policyOutcomeInTurns(senders, 'reject', tried))
  expect(outcome).toEqual(policyOutcome(senders, 'reject', tried))
})
/** Does the work, no step of which may take a fifth of its processor time. */
async function inSteps<T>(work: () => Promise<T>): Promise<T> {
  const begunMs = cpuMs()
  let [lastMs, longestMs, isOver] = [begunMs, 0, false]
  const look = (): void => {
    longestMs = Math.max(longestMs, cpuMs() - lastMs)
    lastMs = cpuMs()
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  const result = await work()
  isOver = true
  look()
  expect(longestMs).toBeLessThan((cpuMs() - begunMs) / 5)
  return result
}
/** Processor time of this thread, ms. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
