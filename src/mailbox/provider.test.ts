import { expect, it } from 'vitest'
import { PROVIDERS } from '../providers/index.ts'
import { DEFAULT_LIMITS, providerById, providerOf, SMTP_LIMITS } from './provider.ts'

it.each([
  ['aspmx.l.google.com', 'google'],
  ['ALT1.ASPMX.L.GOOGLE.COM.', 'google'], // any case, a trailing dot
  ['alt1.gmr-smtp-in.l.google.com', 'google'],
  ['contoso-com.mail.protection.outlook.com', 'microsoft365'],
  ['outlook-com.olc.protection.outlook.com', 'outlook'], // more specific than Microsoft 365
  ['contoso-com.o-v1.mx.microsoft', 'microsoft365'], // MX of DNSSEC tenants
  ['mta5.am0.yahoodns.net', 'yahoo'],
  ['mx01.mail.icloud.com', 'icloud'],
  ['mail.protonmail.ch', 'proton'],
  ['mx.zoho.eu', 'zoho'],
  ['mx.yandex.ru', 'yandex'],
  ['mxs.mail.ru', 'mailru'],
  ['mx3.qq.com', 'qq'],
  ['in1-smtp.messagingengine.com', 'fastmail'],
  ['mx00.gmx.net', 'gmx'],
  ['mx-ha02.web.de', 'gmx'],
  ['mx00.t-online.de', 't-online'],
  ['mx1.comcast.net', 'comcast'],
  ['smtp-in.orange.fr', 'orange'],
  ['mx1.free.fr', 'free'],
  ['mx1.mail.ovh.net', 'ovh'],
  ['mx1.emailsrvr.com', 'rackspace'],
  ['mailstore1.secureserver.net', 'godaddy'],
  ['eu-smtp-inbound-1.mimecast.com', 'mimecast'],
  ['mxa-00000000.gslb.pphosted.com', 'proofpoint'],
  ['d1.ess.barracudanetworks.com', 'barracuda'],
  ['mx1.hc0.eu.iphmx.com', 'cisco'],
  ['mx1.antispamcloud.com', 'spamexperts'],
  ['mx.yahoo.co.jp', 'yahoojp'],
  ['mx.example.org', undefined],
  ['notgoogle.com', undefined], // a suffix is whole labels
  ['google.com.example.org', undefined],
  ['', undefined],
  ['.', undefined],
])('%j is %s', (host, id) => expect(providerOf(host)?.id).toBe(id))

it('has limits above zero for providers that are known and have mail hosts', () => {
  for (const [id, row] of Object.entries(SMTP_LIMITS)) {
    expect(PROVIDERS.find((provider) => provider.id === id)?.mx.length, id).toBeGreaterThan(0)
    expect(row.maxConnections).toBeGreaterThan(0)
    expect(row.maxConnections).toBeLessThanOrEqual(20)
    expect(row.perMinute).toBeGreaterThan(0)
    expect(row.seen).not.toBe('')
  }
  expect(providerById('outlook')).toMatchObject({ id: 'outlook', name: 'Outlook.com', maxConnections: 2 })
  expect(providerById('posteo')).toMatchObject({ id: 'posteo', ...DEFAULT_LIMITS })
})

it('knows no host by a name longer than names are', () =>
  expect(providerOf('.google.com'.repeat(10_000))).toBeUndefined())
