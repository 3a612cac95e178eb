import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { LabZone } from '../../../test/lab/dns.ts'
import { labCtx } from '../../../test/lab/world.ts'
import { domain } from '../../names/domain.ts'
import { lookupDkim, MAX_QUESTIONS } from './lookup.ts'
import { generalSelectors, providersOfHosts, providersOfIncludes, selectorsOf, spfTargets } from './selectors.ts'

const GOOD = `v=DKIM1; k=rsa; p=${generateKeyPairSync('rsa', { modulusLength: 2_048 })
  .publicKey.export({ type: 'spki', format: 'der' })
  .toString('base64')}`

describe('who is asked for which selector', () => {
  const lookup = async (zone: LabZone, wanted: string[] = []) => {
    const ctx = labCtx({ 'a.example': { A: ['45.53.5.1'] }, ...zone })
    const facts = await lookupDkim(ctx, domain('a.example'), { selectors: wanted })
    const below = ctx.asked.filter((question) => question.includes('_domainkey'))
    return { facts, below, selectors: below.map((question) => question.split('.')[0]!) }
  }
  const ALL = generalSelectors(Date.UTC(2026, 0, 2))
  const ten = Array.from({ length: 10 }, (_, i) => `own${i}`)

  it('every general selector, where no provider takes places', async () => {
    const { below, selectors } = await lookup({
      'x._domainkey.a.example': { TXT: ['_domainkey exists'] },
      // With many mail hosts there are places for all.
      'a.example': { A: ['45.53.5.1', '45.53.5.2', '45.53.5.3', '45.53.5.4', '45.53.5.5'] },
    })
    expect(selectors).toEqual(expect.arrayContaining([...ALL]))
    expect(below.length).toBe(MAX_QUESTIONS)
  })
  it('no rarer ones where a key was found, or where nothing exists below', async () => {
    const rare = 'email'
    const found = await lookup({ 'mail._domainkey.a.example': { TXT: [GOOD] } })
    const absent = await lookup({})
    const rarer = await lookup({ [`${rare}._domainkey.a.example`]: { TXT: [GOOD] } })
    expect([found, absent, rarer].map(({ selectors }) => selectors.includes(rare))).toEqual([false, false, true])
    expect(rarer.facts.keys).toHaveLength(1)
  })
  it.each<[string, LabZone, string]>([
    ['MX is silent', { 'a.example': { MX: 'TIMEOUT', TXT: ['v=spf1 include:emsd1.com ~all'] } }, 'acdkim1'],
    ['SPF is silent', { 'a.example': { MX: [[10, 'spool.mail.gandi.net']], TXT: 'TIMEOUT' } }, 'gm1'],
    ['both are silent', { 'a.example': { MX: 'TIMEOUT', TXT: 'TIMEOUT' } }, 'mail'],
    [
      'the include stands in a record of the same organization',
      {
        'a.example': { TXT: ['v=spf1 redirect=_spf.a.example'] },
        '_spf.a.example': { TXT: ['v=spf1 include:_more.a.example ~all'] },
        '_more.a.example': { TXT: ['v=spf1 include:spf.constantcontact.com ~all'] },
      },
      'ctct1',
    ],
  ])('a key is found where %s', async (_, zone, selector) => {
    const { facts } = await lookup({ ...zone, [`${selector}._domainkey.a.example`]: { TXT: [GOOD] } })
    expect(facts.keys.map((key) => key.selector)).toEqual([selector])
  })
  it('an include of another organization does not name the senders of the domain', async () => {
    const { facts } = await lookup({
      'a.example': { TXT: ['v=spf1 include:spf.b.example ~all'] },
      'spf.b.example': { TXT: ['v=spf1 include:emsd1.com ~all'] },
    })
    expect(facts.providers).toEqual([])
  })
  it.each<[string, string[]]>([
    ['nobody', []],
    ['the caller with ten', ten],
  ])('seven providers, selectors named by %s: all within the limit, each provider heard', async (_, wanted) => {
    const includes = [
      'emsd1.com',
      'spf.mailjet.com',
      '_spf.everlytic.net',
      'spf.constantcontact.com',
      'mail.zendesk.com',
      '_spf.mlsend.com',
    ]
    const { below, selectors } = await lookup(
      {
        'x._domainkey.a.example': { TXT: ['_domainkey exists'] },
        'a.example': {
          MX: [[10, 'spool.mail.gandi.net']],
          TXT: [`v=spf1 ${includes.map((name) => `include:${name}`).join(' ')} ~all`],
        },
      },
      wanted,
    )
    expect(below.length).toBe(MAX_QUESTIONS)
    expect(new Set(below).size).toBe(below.length)
    const first = ['gm1', 'acdkim1', 'mailjet', 'everlytickey1', 'ctct1', 'zendesk1', 'litesrv']
    expect(selectors).toEqual(expect.arrayContaining([...wanted, ...first, 'default', 'mail']))
  })
  it('the general list does not wait for MX and SPF', async () => {
    const ctx = labCtx({})
    const silent = new Promise<never>(() => {})
    const resolve: typeof ctx.resolve = (name, type, signal) =>
      name === 'a.example' ? silent : ctx.resolve(name, type, signal)
    void lookupDkim({ ...ctx, resolve }, domain('a.example'))
    await new Promise((done) => setImmediate(done))
    expect(ctx.asked).toEqual(
      expect.arrayContaining(['default', 'mail', 's1'].map((one) => `${one}._domainkey.a.example TXT`)),
    )
  })
})

describe('selectors', () => {
  it.each<[string, string[], string[]]>([
    [
      'includes and redirects',
      ['v=spf1 include:sendgrid.net ~include:AmazonSES.com. redirect=_spf.google.com'],
      ['SendGrid', 'Amazon SES', 'Google Workspace'],
    ],
    ['a record with a tab and quotes', ['"v=spf1\tinclude:sendgrid.net -all"'], ['SendGrid']],
    ['two records', ['v=spf1 include:sendgrid.net', 'v=spf1 include:emsd1.com -all'], ['SendGrid', 'ActiveCampaign']],
    ['other texts', ['include:sendgrid.net', 'v=DMARC1; p=none'], []],
  ])('%s name the providers', (_, texts, names) => {
    expect(providersOfIncludes(spfTargets(texts)).map(({ name }) => name)).toEqual(names)
  })
  it.each([
    ['24681.spf03.hubspotemail.net', ['hs1-24681', 'hs2-24681']],
    ['spf.hubspotemail.net', ['hs1', 'hs2']],
  ])('%s: selectors with the number of the customer, where the include has it', (target, selectors) =>
    expect(providersOfIncludes([target]).map((one) => one.selectors)).toEqual([selectors]),
  )
  it('the first selector of each provider comes before the second of any', () => {
    const providers = providersOfHosts(['aspmx.l.google.com', 'x.mail.protection.outlook.com'])
    expect(selectorsOf(providers).slice(0, 4)).toEqual(['google', 'selector1', '20230601', 'selector2'])
  })
  it('none twice in the general list, and all of it has a place', () => {
    const selectors = generalSelectors(Date.UTC(2026, 0, 1))
    expect(new Set(selectors).size).toBe(selectors.length)
    expect(selectors.length).toBeLessThanOrEqual(MAX_QUESTIONS - 2)
  })
})
