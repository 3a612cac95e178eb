import type { CodeRow, List, ListSet, Tier } from './zone-type.ts'

/** Changes with every change of a row below. */
const LIST_VERSION = '2026.11.1'

const listed = (meaning: string, code = '127.0.0.2'): readonly CodeRow[] => [{ code, meaning }]
const ANY_FROM_2 = '127.0.0.2-255'

/** The default values of a row. */
const USUAL = {
  ipv6: 'no',
  scope: 'ip',
  codes: listed('listed'),
  ignored: [],
  strict: false,
  allowance: { perSecond: 50 },
  testPoint: { negative: true, answers: [] },
  verified: '',
  notes: '',
} as const satisfies Partial<List>

const SPAMRATS = {
  ipv6: 'unknown',
  strict: true,
  testPoint: { negative: true, answers: ['127.0.0.36-43'] },
} as const satisfies Partial<List>

const row = (name: string, zone: string, tier: Tier, delist: string, more: Partial<List> = {}): List => ({
  ...USUAL,
  name,
  zone,
  tier,
  delistUrl: `https://${delist}`,
  ...more,
})

/**
 * The 29 lists in the order of every answer (docs/blacklists.md). The rows come from operators' pages and
 * configurations in use; `verified` stays empty until live queries have confirmed a row.
 */
export const BUILT_IN_LISTS: readonly List[] = [
  row('Spamhaus ZEN', 'zen.spamhaus.org', 'A', 'check.spamhaus.org', {
    ipv6: 'yes',
    codes: [
      { code: '127.0.0.2', meaning: 'SBL: seen sending, hosting or helping spam' },
      { code: '127.0.0.3', meaning: 'CSS: sends low-reputation or unsolicited mail' },
      { code: '127.0.0.4-7', meaning: 'XBL: compromised machine or open proxy' },
      { code: '127.0.0.9', meaning: 'DROP: network run by criminals' },
      {
        code: '127.0.0.10',
        meaning: "PBL: should not send mail directly (owner's policy)",
        tier: 'D',
        scope: 'policy',
      },
      {
        code: '127.0.0.11',
        meaning: 'PBL: should not send mail directly (set by Spamhaus)',
        tier: 'D',
        scope: 'policy',
      },
    ],
    strict: true,
    allowance: { perDay: 300_000 },
    keyForm: { key: 'dqs', zone: '{key}.zen.dq.spamhaus.net' },
    notes: 'Refuses public resolvers (127.255.255.254) and heavy use (127.255.255.255); a DQS key lifts both.',
  }),
  row('Barracuda BRBL', 'b.barracudacentral.org', 'A', 'barracudacentral.org/rbl/removal-request', {
    notes: "The resolver's address must be registered; otherwise there is no answer, SERVFAIL or REFUSED.",
  }),
  row('SpamCop', 'bl.spamcop.net', 'A', 'spamcop.net/bl.shtml', {
    ipv6: 'unknown',
    notes: 'An entry expires about 24 hours after the last report.',
  }),
  row('PSBL', 'psbl.surriel.com', 'B', 'psbl.org/remove'),
  row('Mailspike BL', 'bl.mailspike.net', 'B', 'mailspike.io/ip_verify', {
    codes: [
      { code: '127.0.0.2', meaning: 'seen in a spam wave' },
      { code: '127.0.0.10', meaning: 'worst reputation' },
      { code: '127.0.0.11', meaning: 'very bad reputation' },
      { code: '127.0.0.12', meaning: 'bad reputation' },
    ],
    ignored: [{ code: '127.0.0.13-20', meaning: 'reputation, not a listing' }],
    strict: true,
    allowance: { perDay: 100_000 },
  }),
  row('UCEPROTECT Level 1', 'dnsbl-1.uceprotect.net', 'B', 'uceprotect.net/en/rblcheck.php', {
    notes: 'An entry expires 7 days after the last hit.',
  }),
  row('UCEPROTECT Level 2', 'dnsbl-2.uceprotect.net', 'D', 'uceprotect.net/en/rblcheck.php', {
    scope: 'range',
    codes: listed('the neighbourhood of the address is listed'),
  }),
  row('UCEPROTECT Level 3', 'dnsbl-3.uceprotect.net', 'D', 'uceprotect.net/en/rblcheck.php', {
    scope: 'asn',
    codes: listed('the whole network (AS) is listed'),
    notes: 'The TXT record names the AS.',
  }),
  row('Backscatterer', 'ips.backscatterer.org', 'D', 'backscatterer.org', {
    codes: listed('sends bounces or call-outs to forged senders'),
    notes: 'Meant for mail with MAIL FROM:<> only.',
  }),
  row('DroneBL', 'dnsbl.dronebl.org', 'B', 'dronebl.org/lookup', {
    ipv6: 'yes',
    codes: [
      { code: '127.0.0.3', meaning: 'IRC drone' },
      { code: '127.0.0.5-11', meaning: 'bottler, worm, spam bot, DDoS drone or open proxy' },
      { code: '127.0.0.13', meaning: 'dictionary attacks' },
      { code: '127.0.0.14', meaning: 'open Wingate proxy' },
      { code: '127.0.0.15', meaning: 'compromised router or gateway' },
      { code: '127.0.0.16', meaning: 'worm that takes over machines' },
      { code: '127.0.0.17', meaning: 'botnet address, detected automatically' },
      { code: '127.0.0.19', meaning: 'abused VPN service' },
      { code: '127.0.0.255', meaning: 'uncategorised threat' },
    ],
    ignored: [
      { code: '127.0.0.1', meaning: 'test class, not a listing' },
      { code: '127.0.0.2', meaning: 'sample class, not a listing' },
      { code: '127.0.0.12', meaning: 'open DNS resolver (information)' },
      { code: '127.0.0.18', meaning: 'possibly compromised DNS or mail server (information)' },
    ],
    testPoint: { negative: true, answers: ['127.0.0.0/8'] },
  }),
  row('blocklist.de', 'bl.blocklist.de', 'B', 'blocklist.de/en/delist.html', {
    ipv6: 'unknown',
    codes: listed('attacked a service (the code tells which)', '127.0.0.2-22'),
    testPoint: { negative: true, answers: ['127.0.0.15'] },
    notes: 'An entry expires after 48 hours.',
  }),
  row('SEM-BLACK', 'bl.spameatingmonkey.net', 'B', 'spameatingmonkey.com', {
    zoneV6: 'bl.ipv6.spameatingmonkey.net',
    ipv6: 'yes',
    allowance: { perSecond: 5 },
  }),
  row('SEM-BACKSCATTER', 'backscatter.spameatingmonkey.net', 'D', 'spameatingmonkey.com', {
    codes: listed('sends bounces to forged senders'),
    allowance: { perSecond: 5 },
    notes: 'An entry expires after 15 days.',
  }),
  row('SpamRATS Dyna', 'dyna.spamrats.com', 'D', 'spamrats.com/lookup', {
    ...SPAMRATS,
    scope: 'policy',
    codes: listed('looks like a dynamic address', '127.0.0.36'),
    keyForm: { key: 'spamrats', zone: '{key}.dyna.spamrats.com' },
  }),
  row('SpamRATS NoPtr', 'noptr.spamrats.com', 'D', 'spamrats.com/lookup', {
    ...SPAMRATS,
    scope: 'policy',
    codes: listed('has no PTR record', '127.0.0.37'),
    keyForm: { key: 'spamrats', zone: '{key}.noptr.spamrats.com' },
  }),
  row('SpamRATS Spam', 'spam.spamrats.com', 'B', 'spamrats.com/lookup', {
    ...SPAMRATS,
    codes: listed('sends spam', '127.0.0.38'),
    keyForm: { key: 'spamrats', zone: '{key}.spam.spamrats.com' },
  }),
  row('SpamRATS Auth', 'auth.spamrats.com', 'C', 'spamrats.com/lookup', {
    ...SPAMRATS,
    codes: listed('login abuse', '127.0.0.43'),
    keyForm: { key: 'spamrats', zone: '{key}.auth.spamrats.com' },
  }),
  row('VirusFree BIP', 'bip.virusfree.cz', 'B', 'virusfree.cz', {
    ipv6: 'yes',
    codes: listed('bot or source of malware'),
  }),
  row('NordSpam', 'bl.nordspam.com', 'C', 'nordspam.com/delist', { ipv6: 'yes', allowance: { perDay: 10_000 } }),
  row('Suomispam BL', 'bl.suomispam.net', 'C', 'suomispam.net', { ipv6: 'yes', codes: listed('listed', ANY_FROM_2) }),
  row('Suomispam GL', 'gl.suomispam.net', 'D', 'suomispam.net', {
    ipv6: 'unknown',
    codes: listed('on the grey list', ANY_FROM_2),
    notes: 'A grey list.',
  }),
  row('InterServer', 'rbl.interserver.net', 'C', 'rbl.interserver.net', {
    notes: 'An entry expires after about 5 days.',
  }),
  row('Hostkarma Black', 'hostkarma.junkemailfilter.com', 'B', 'ipadmin.junkemailfilter.com/remove.php', {
    ipv6: 'unknown',
    codes: [
      { code: '127.0.0.2', meaning: 'black: sends spam' },
      { code: '127.0.0.4', meaning: 'brown: sends mostly spam' },
    ],
    ignored: [
      { code: '127.0.0.1', meaning: 'white' },
      { code: '127.0.0.3', meaning: 'yellow: sends spam and good mail; should not be blocked' },
      { code: '127.0.0.5', meaning: 'NOBL: should not be blocked' },
      { code: '127.0.1.0/24', meaning: 'use of QUIT (information)' },
      { code: '127.0.2.0/24', meaning: 'days since first seen (information)' },
    ],
    strict: true,
    testPoint: { negative: false, answers: [] },
    notes: 'An answer may have several A records.',
  }),
  row('GBUdb Truncate', 'truncate.gbudb.net', 'C', 'gbudb.com/truncate', {
    notes: 'Sources disagree on whether it still works; the self-test shows it.',
  }),
  row('SwiNOG DNSRBL', 'dnsrbl.swinog.ch', 'C', 'antispam.imp.ch', { codes: listed('listed', '127.0.0.3') }),
  row('ImproWare Spam', 'spamrbl.swinog.ch', 'C', 'antispam.imp.ch', { codes: listed('listed', ANY_FROM_2) }),
  row('s5h.net', 'all.s5h.net', 'C', 'usenix.org.uk/content/rblremove', { ipv6: 'yes' }),
  row('0SPAM', 'bl.0spam.org', 'C', '0spam.org', { ipv6: 'unknown', codes: listed('listed', ANY_FROM_2) }),
  row('Fabel SpamSources', 'spamsources.fabel.dk', 'C', 'spamsources.fabel.dk/delist', {
    notes: 'Little evidence that it still works; the self-test shows it.',
  }),
]

/** The set that is used unless the operator sets another. */
export const BUILT_IN: ListSet = { version: LIST_VERSION, lists: BUILT_IN_LISTS }
