import { rows } from './provider.ts'

/** Mailbox providers for consumers and the customers of one access provider; they host few other domains. */
export const CONSUMER = rows('mailbox', [
  {
    id: 'outlook',
    name: 'Outlook.com',
    mx: ['.olc.protection.outlook.com', '.hotmail.com'],
    includes: ['spf2.outlook.com'],
    selectors: ['selector1'],
    seen: 'MX and selector of outlook.com and hotmail.com',
  },
  {
    id: 'yahoo',
    name: 'Yahoo and AOL',
    mx: ['.yahoodns.net', '.yahoo.com', '.aol.com'],
    includes: ['_spf.mail.yahoo.com', '_spf.aol.com'],
    spf: '_spf.mail.yahoo.com',
    selectors: ['s2048', 's1024', 'a2048'],
    seen: 'senders.yahooinc.com; selectors of yahoo.com and aol.com',
  },
  {
    id: 'yahoojp',
    name: 'Yahoo Japan',
    mx: ['.yahoo.co.jp'],
    includes: ['spf.yahoo.co.jp'],
    selectors: ['yj20110701'],
    seen: 'MX and selector of yahoo.co.jp',
  },
  {
    id: 'gmx',
    name: 'GMX and WEB.DE',
    mx: ['.gmx.net', '.gmx.com', '.web.de', '.mail.com'],
    seen: 'postmaster.gmx.net',
  },
  { id: 't-online', name: 'T-Online', mx: ['.t-online.de', '.telekom.de'], seen: 'postmaster.t-online.de' },
  { id: 'comcast', name: 'Comcast', mx: ['.comcast.net'], seen: 'postmaster.comcast.net' },
  { id: 'cox', name: 'Cox', mx: ['.cox.net'], seen: 'postmaster.cox.net' },
  {
    id: 'charter',
    name: 'Charter Spectrum',
    mx: ['.charter.net', '.rr.com', '.twc.com', '.spectrum.net'],
    seen: 'MX of charter.net and rr.com',
  },
  {
    id: 'cloudfilter',
    name: 'Cloudmark (Vade) hosted',
    mx: ['.cloudfilter.net'],
    seen: 'MX of cox.net, charter.net and centurylink.net',
  },
  { id: 'orange', name: 'Orange', mx: ['.orange.fr', '.wanadoo.fr', '.orange.com'], seen: 'postmaster.orange.fr' },
  { id: 'free', name: 'Free', mx: ['.free.fr', '.proxad.net'], seen: 'postmaster.free.fr' },
  { id: 'laposte', name: 'La Poste', mx: ['.laposte.net'], seen: 'postmaster.laposte.net' },
  { id: 'sfr', name: 'SFR', mx: ['.sfr.fr', '.sfr.net', '.neuf.fr'], seen: 'postmaster.sfr.fr' },
  {
    id: 'libero',
    name: 'Libero (Italiaonline)',
    mx: ['.libero.it', '.iol.it', '.virgilio.it'],
    seen: 'MX of libero.it',
  },
  { id: 'seznam', name: 'Seznam', mx: ['.seznam.cz'], seen: 'napoveda.seznam.cz' },
  { id: 'naver', name: 'Naver', mx: ['.naver.com'], seen: 'MX of naver.com' },
])
