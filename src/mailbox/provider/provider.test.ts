import { expect, it } from 'vitest'
import { providerById, providerOf } from './provider.ts'
import { PROVIDERS } from './table.ts'

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

it('has ids and hosts once each, limits above zero, and no batch where a second RCPT hurts', () => {
  const ids = PROVIDERS.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  const hosts = PROVIDERS.flatMap(({ mx }) => mx)
  expect(new Set(hosts).size).toBe(hosts.length)
  for (const row of PROVIDERS) {
    expect(row.mx.every((host) => /^\.[a-z0-9.-]+$/.test(host))).toBe(true)
    expect(row.maxConnections).toBeGreaterThan(0)
    expect(row.maxConnections).toBeLessThanOrEqual(20)
    expect(row.perMinute).toBeGreaterThan(0)
    expect(row.batch && row.secondRcpt === 'hurts').toBe(false)
    expect(row.seen).not.toBe('')
    expect(providerOf(`a${row.mx[0]}`)?.id).toBe(row.id)
  }
  expect(providerById('outlook')?.maxConnections).toBe(2)
})

it('knows no host by a name longer than names are', () =>
  expect(providerOf('.google.com'.repeat(10_000))).toBeUndefined())
