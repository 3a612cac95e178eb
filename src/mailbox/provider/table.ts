/** A mail provider as recognised by the host that is talked to, and its limits. */
export type Provider = {
  readonly id: string
  readonly name: string
  /** Host names in lower case: the host itself, or what stands before it when the entry begins with a dot. */
  readonly mx: readonly string[]
  /** Connections at once to all its hosts together, from one source address. */
  readonly maxConnections: number
  /** Recipients a minute, from one source address. */
  readonly perMinute: number
  /** What an accepted RCPT tells: that the mailbox exists, nothing, or it depends on how the customer has set it up. */
  readonly tells: 'existence' | 'nothing' | 'depends'
  /** Whether a second RCPT in one session does harm (throttling, a worse reputation). */
  readonly secondRcpt: 'ok' | 'hurts'
  /** Whether the real and the made-up recipient may go out in one batch (RFC 2920). */
  readonly batch: boolean
  /** Where the row comes from. */
  readonly seen: string
}

type Limits = Omit<Provider, 'id' | 'name' | 'mx' | 'seen'>
const open: Limits = { maxConnections: 10, perMinute: 120, tells: 'existence', secondRcpt: 'ok', batch: true }
const strict: Limits = { maxConnections: 4, perMinute: 30, tells: 'existence', secondRcpt: 'hurts', batch: false }
const gateway: Limits = { maxConnections: 5, perMinute: 60, tells: 'depends', secondRcpt: 'ok', batch: false }

/** `mx` is a list separated by spaces. */
const row = (id: string, name: string, mx: string, limits: Limits, seen: string): Provider => ({
  id,
  name,
  mx: mx.split(' '),
  ...limits,
  seen,
})

/** The providers, most specific first: the first row that matches is taken. A line is id, name, hosts, limits, where it comes from. */
export const PROVIDERS: readonly Provider[] = [
  row(
    'google',
    'Google',
    '.google.com .googlemail.com .psmtp.com',
    open,
    'support.google.com/a/answer/174125 (MX); 550 5.1.1 NoSuchUser at RCPT',
  ),
  row(
    'outlook',
    'Outlook.com',
    '.olc.protection.outlook.com .hotmail.com',
    { ...strict, maxConnections: 2, perMinute: 10 },
    'MX of outlook.com, hotmail.com; its terms forbid asking many names ("namespace mining")',
  ),
  row(
    'microsoft365',
    'Microsoft 365',
    '.mail.protection.outlook.com .mail.protection.office365.us .mail.protection.partner.outlook.cn .mx.microsoft',
    { ...gateway, maxConnections: 10, secondRcpt: 'hurts' },
    'learn.microsoft.com: directory-based edge blocking (550 5.4.1), 451 4.4.4 at a second RCPT',
  ),
  row(
    'yahoo',
    'Yahoo and AOL',
    '.yahoodns.net .yahoo.com .aol.com',
    { ...strict, tells: 'nothing' },
    'senders.yahooinc.com; accepts at RCPT and refuses at DATA',
  ),
  row('yahoojp', 'Yahoo Japan', '.yahoo.co.jp', { ...strict, tells: 'depends' }, 'MX of yahoo.co.jp'),
  row(
    'icloud',
    'iCloud',
    '.mail.icloud.com',
    { ...strict, secondRcpt: 'ok' },
    'support.apple.com/102322; refuses addresses by Proofpoint’s list',
  ),
  row(
    'proton',
    'Proton',
    '.protonmail.ch .proton.me',
    { ...open, maxConnections: 4, perMinute: 60, batch: false },
    'proton.me/support/custom-domain',
  ),
  row(
    'zoho',
    'Zoho',
    '.zoho.com .zoho.eu .zoho.in .zoho.com.au .zoho.com.cn .zoho.jp .zoho.sa .zohocloud.ca .zohomail.com',
    strict,
    'zoho.com/mail/help (MX by data centre)',
  ),
  row(
    'yandex',
    'Yandex',
    '.yandex.ru .yandex.net .yandex.com .yandex.kz .yandex.by .yandex.uz',
    strict,
    'yandex.ru/support; 550 5.7.1 No such user!',
  ),
  row(
    'mailru',
    'Mail.ru',
    '.mail.ru',
    strict,
    'help.mail.ru/mail/help/postmaster: too many unknown recipients get the address blocked',
  ),
  row(
    'qq',
    'Tencent QQ',
    '.qq.com',
    { ...strict, maxConnections: 2 },
    'service.mail.qq.com error pages (frequency limits)',
  ),
  row(
    'netease',
    'NetEase 163',
    '.netease.com .163.com .126.com .yeah.net',
    { ...strict, maxConnections: 2 },
    'help.mail.163.com error codes (MI:DMC, RP:CEL)',
  ),
  row('fastmail', 'Fastmail', '.messagingengine.com', { ...open, batch: false }, 'fastmail.help (MX)'),
  row(
    'gmx',
    'GMX and WEB.DE',
    '.gmx.net .gmx.com .web.de .mail.com .kundenserver.de .1and1.com .ionos.com .ionos.de .ionos.fr .ionos.es .ionos.co.uk',
    strict,
    'postmaster.gmx.net, postmaster.1und1.de',
  ),
  row(
    't-online',
    'T-Online',
    '.t-online.de .telekom.de',
    { ...strict, maxConnections: 2 },
    'postmaster.t-online.de: only hosts with an imprint are let in (554 … tosa@rx.t-online.de)',
  ),
  row('comcast', 'Comcast', '.comcast.net', strict, 'postmaster.comcast.net'),
  row('cox', 'Cox', '.cox.net', strict, 'postmaster.cox.net error codes (IPBL…)'),
  row(
    'charter',
    'Charter Spectrum',
    '.charter.net .rr.com .twc.com .spectrum.net',
    strict,
    'spectrum.net postmaster codes (AUP#…)',
  ),
  row(
    'cloudfilter',
    'Cloudmark (Vade) hosted',
    '.cloudfilter.net',
    strict,
    'MX of cox.net, charter.net, centurylink.net',
  ),
  row(
    'orange',
    'Orange',
    '.orange.fr .wanadoo.fr .orange.com',
    { ...strict, maxConnections: 2 },
    'postmaster.orange.fr (OFR_…): at most two connections at once',
  ),
  row('free', 'Free', '.free.fr .proxad.net', { ...strict, maxConnections: 2 }, 'postmaster.free.fr'),
  row('laposte', 'La Poste', '.laposte.net', { ...strict, maxConnections: 2 }, 'postmaster.laposte.net (LPN…)'),
  row('sfr', 'SFR', '.sfr.fr .sfr.net .neuf.fr', { ...strict, maxConnections: 2 }, 'postmaster.sfr.fr (LPN…)'),
  row('ovh', 'OVH', '.mail.ovh.net .ovh.net .ovh.ca', { ...open, maxConnections: 5 }, 'docs.ovh.com (MX)'),
  row('rackspace', 'Rackspace', '.emailsrvr.com', strict, 'docs.rackspace.com (MX)'),
  row('godaddy', 'GoDaddy', '.secureserver.net', strict, 'godaddy.com/help (IB… codes: too many recipients this hour)'),
  row('libero', 'Libero (Italiaonline)', '.libero.it .iol.it .virgilio.it', strict, 'MX of libero.it'),
  row('seznam', 'Seznam', '.seznam.cz', strict, 'napoveda.seznam.cz'),
  row('naver', 'Naver', '.naver.com', strict, 'MX of naver.com'),
  row('migadu', 'Migadu', '.migadu.com', { ...open, maxConnections: 5, batch: false }, 'migadu.com/guides'),
  row(
    'amazonses',
    'Amazon SES and WorkMail',
    '.amazonaws.com .awsapps.com',
    gateway,
    'docs.aws.amazon.com/ses (inbound-smtp.<region>.amazonaws.com)',
  ),
  row(
    'mimecast',
    'Mimecast',
    '.mimecast.com .mimecast.co.za .mimecast-offshore.com',
    gateway,
    'community.mimecast.com: SMTP error codes (greylisting 451, DOC-1369)',
  ),
  row(
    'proofpoint',
    'Proofpoint',
    '.pphosted.com .ppe-hosted.com .proofpoint.com .gpphosted.com',
    gateway,
    'Proofpoint: 450 … verification in progress; 554 blocked, ipcheck.proofpoint.com',
  ),
  row(
    'barracuda',
    'Barracuda',
    '.barracudanetworks.com .cudamail.com',
    gateway,
    'Barracuda: 550 permanent failure … (x:blocked)',
  ),
  row(
    'cisco',
    'Cisco',
    '.iphmx.com',
    gateway,
    'Cisco Secure Email: 550 #5.1.0 Address rejected; 554 … poor reputation',
  ),
  row(
    'spamexperts',
    'Spam Experts',
    '.antispamcloud.com .spamexperts.com .spamexperts.eu',
    gateway,
    'documentation.n-able.com/spamexperts',
  ),
  row('trendmicro', 'Trend Micro', '.trendmicro.com .trendmicro.eu', gateway, 'docs.trendmicro.com (Email Security)'),
  row('sophos', 'Sophos', '.hydra.sophos.com .reflexion.net', gateway, 'docs.sophos.com (MX)'),
  row(
    'symantec',
    'Symantec Email Security.cloud',
    '.messagelabs.com',
    gateway,
    'messagelabs MX; 553-mail rejected … (#5.1.1)',
  ),
  row('forcepoint', 'Forcepoint', '.mailcontrol.com', gateway, 'mailcontrol MX'),
  row('hornetsecurity', 'Hornetsecurity', '.hornetsecurity.com .antispameurope.com', gateway, 'hornetsecurity MX'),
  row(
    'cloudflare',
    'Cloudflare Email Routing',
    '.mx.cloudflare.net',
    gateway,
    'developers.cloudflare.com/email-routing',
  ),
]
