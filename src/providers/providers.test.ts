import { describe, expect, it } from 'vitest'
import {
  dkimStepsOf,
  PROVIDERS,
  providerById,
  providerOfAlias,
  providerOfHost,
  providerOfInclude,
  spfIncludeOf,
} from './index.ts'
import { ownerOfHost, providerOfSignature, SENDERS } from './sending.ts'

describe('the rows', () => {
  it.each(PROVIDERS.map((provider) => [provider.id, provider] as const))('%s is well-formed', (id, provider) => {
    expect(id).toMatch(/^[a-z0-9][a-z0-9-]*$/)
    expect(provider.mx.length + provider.includes.length + provider.cnames.length).toBeGreaterThan(0)
    for (const name of [...provider.mx, ...provider.includes, ...provider.cnames])
      expect(name).toMatch(/^\.?[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/)
    for (const selector of provider.selectors) expect(selector).toMatch(/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/)
    expect(new Set(provider.selectors).size).toBe(provider.selectors.length)
    expect(provider.seen).not.toBe('')
    if (provider.kind === 'sender') expect(provider.includes.length + provider.cnames.length).toBeGreaterThan(0)
    // What a customer is told to publish stands for the provider.
    for (const include of [provider.spf, ...Object.values(provider.spfByMx ?? {})]) {
      if (include !== undefined) expect(providerOfInclude(include)?.id).toBe(id)
    }
  })
  it('no id, MX pattern or include stands in two rows', () => {
    for (const pick of [
      PROVIDERS.map(({ id }) => id),
      PROVIDERS.flatMap(({ mx }) => mx),
      PROVIDERS.flatMap(({ includes }) => includes),
      PROVIDERS.flatMap(({ cnames }) => cnames),
    ])
      expect(pick.filter((one, i) => pick.indexOf(one) !== i)).toEqual([])
  })
})

describe('recognition', () => {
  it.each([
    ['aspmx.l.google.com', 'google'],
    ['SMTP.Google.com.', 'google'],
    ['contoso-com.mail.protection.outlook.com', 'microsoft365'],
    ['contoso-com.o-v1.mx.microsoft', 'microsoft365'],
    ['outlook-com.olc.protection.outlook.com', 'outlook'],
    ['mx-biz.mail.am0.yahoodns.net', 'yahoo'],
    ['route1.mx.cloudflare.net', 'cloudflare'],
    ['mx00.kundenserver.de', 'ionos'],
    ['w0123456.kasserver.com', 'all-inkl'],
    ['mx0.transip.email', 'transip'],
    ['mxf91d.netcup.net', 'netcup'],
    ['mx.simply.com', 'simply'],
    ['google.com.example.net', undefined],
    ['notgoogle.com', undefined],
    ['', undefined],
    ['.', undefined],
    [`${'a.'.repeat(200)}google.com`, undefined],
  ])('host %j: %s', (host, id) => {
    expect(providerOfHost(host)?.id).toBe(id)
  })
  it.each([
    ['_spf.google.com', 'google'],
    ['_SPF.GOOGLE.COM.', 'google'],
    ['eu._netblocks.mimecast.com', 'mimecast'],
    ['1234567.spf05.hubspotemail.net', 'hubspot'],
    ['%{ir}.%{v}.%{d}.spf.has.pphosted.com', 'proofpoint'],
    ['u123.wl.sendgrid.net', 'sendgrid'],
    ['%{i}._ip.%{h}._ehlo.%{d}._spf.vali.email', 'valimail'],
    ['_u.example.com._spf.smart.ondmarc.com', 'ondmarc'],
    ['_spf.aruba.it', 'aruba'],
    ['_spf.hier-im-netz.de', 'telekom-homepage'],
    ['_spf.getresponse.com', 'getresponse'],
    ['mail.customeriomail.com', 'customerio'],
    ['spfhard.crsend.com', 'cleverreach'],
    ['musvc.com', 'mailup'],
    ['_spf.atlassian.net', 'atlassian'],
    ['_spf.odoo.com', 'odoo'],
    ['_spf.tem.scw.cloud', 'scaleway'],
    ['websitewelcome.com', 'bluehost'],
    ['sendersrv.com', 'sender'],
    ['spf.example.com', undefined],
  ])('include %j: %s', (include, id) => {
    expect(providerOfInclude(include)?.id).toBe(id)
  })
})

it.each([
  ['selector1-a-com._domainkey.a.onmicrosoft.com', 'microsoft365'],
  ['selector1-a-com._domainkey.a.r-v1.dkim.mail.microsoft', 'microsoft365'],
  ['s1.domainkey.u123.wl.sendgrid.net', 'sendgrid'],
  ['_dkim-A.transip.email', 'transip'],
  ['key1._domainkey.webhosting.systems', 'netcup'],
  ['dkim.simply.com', 'simply'],
  ['dkim1.abc.clerk.services', 'clerk'],
  ['xq._domainkey.cname.maileon.com', 'maileon'],
  ['k1.optin.com', 'aweber'],
  ['s1.b.example', undefined],
])('alias %s: %s', (target, id) => {
  expect(providerOfAlias(target)?.id).toBe(id)
})

describe('what a provider tells its customers', () => {
  it.each([
    ['google', 'aspmx.l.google.com', '_spf.google.com'],
    ['zoho', 'mx.zoho.eu', 'zohomail.eu'],
    ['zoho', 'mx.zoho.com', 'zohomail.com'],
    ['microsoft365', 'contoso.mail.protection.office365.us', 'spf.protection.office365.us'],
    ['proofpoint', 'mx0a-0001.pphosted.com', undefined],
  ])('%s at %s publishes %s', (id, exchange, include) => {
    expect(spfIncludeOf(providerById(id)!, [exchange])).toBe(include)
  })
  it('names the domain in the steps for DKIM', () => {
    const steps = dkimStepsOf(providerById('microsoft365')!, 'shop.example.com')
    expect(steps).toContain('selector1._domainkey.shop.example.com to selector1-shop-example-com._domainkey.<tenant>')
    expect(steps).not.toMatch(/[{}]/)
  })
})

describe('who sends', () => {
  const domains = SENDERS.flatMap(([{ id }, text]) =>
    text
      .split(' ')
      .filter(Boolean)
      .map((one) => [one, id] as const),
  )
  it('each domain is well-formed and of one service', () => {
    for (const [domain] of domains) expect(domain).toMatch(/^=?[a-z0-9-]+(?:\.[a-z0-9-]+)+$/)
    const names = domains.map(([domain]) => domain.replace('=', ''))
    expect(names.filter((one, i) => names.indexOf(one) !== i)).toEqual([])
  })
  it.each(domains.map(([domain, id]) => [domain.replace('=', ''), id]))('%s is of %s', (domain, id) =>
    expect(providerOfSignature(domain)?.id).toBe(id),
  )
  it.each([
    ['mta-70-1.sparkpostmail.com', 'sparkpost'],
    ['mo4-p00-ob.smtp.rzone.de', 'strato'], // also an MX host
    ['mail.protection.outlook.com', 'microsoft365'],
    ['dedi1234.your-server.de', 'hetzner'],
    ['static.1.2.0.192.clients.your-server.de', 'Hetzner'], // rented
    ['mo1.mail-out.ovh.net', 'ovh'],
    ['ns1.ovh.net', 'OVH'],
    ['notsendgrid.net', undefined],
    ['', undefined],
  ])('a host %j is of %s', (host, expected) => {
    const owner = ownerOfHost(host)
    expect(owner && ('service' in owner ? owner.service.id : owner.rentedFrom)).toBe(expected)
  })
})
