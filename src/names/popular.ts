import { publicSuffix, registrableDomain } from './suffix.ts'

/**
 * Popular mailbox domains, most used first: a mistyped domain is compared with them, and they are never reported as
 * disposable. Country domains of a brand are listed with it.
 */
export const POPULAR_DOMAINS: readonly string[] = `
gmail.com yahoo.com hotmail.com outlook.com icloud.com aol.com live.com msn.com me.com mac.com googlemail.com
ymail.com rocketmail.com proton.me protonmail.com pm.me gmx.com gmx.de gmx.net gmx.at gmx.ch web.de mail.com mail.ru
yandex.ru yandex.com ya.ru bk.ru list.ru inbox.ru rambler.ru qq.com 163.com 126.com sina.com foxmail.com yeah.net sohu.com
naver.com hanmail.net daum.net nate.com comcast.net verizon.net att.net sbcglobal.net bellsouth.net cox.net charter.net
earthlink.net optonline.net windstream.net frontier.com juno.com netzero.net aim.com roadrunner.com
yahoo.co.uk yahoo.fr yahoo.de yahoo.it yahoo.es yahoo.ca yahoo.com.br yahoo.com.au yahoo.co.in yahoo.in yahoo.co.jp yahoo.com.mx yahoo.com.ar
hotmail.co.uk hotmail.fr hotmail.de hotmail.it hotmail.es hotmail.ca hotmail.nl hotmail.be hotmail.com.br hotmail.com.ar hotmail.cl
outlook.fr outlook.de outlook.es outlook.it outlook.com.br outlook.jp live.co.uk live.fr live.nl live.it live.ca live.com.au live.be live.de live.se
orange.fr wanadoo.fr free.fr laposte.net sfr.fr neuf.fr bbox.fr numericable.fr t-online.de freenet.de arcor.de posteo.de mailbox.org
libero.it virgilio.it tin.it alice.it tiscali.it fastwebnet.it btinternet.com virginmedia.com sky.com talktalk.net ntlworld.com blueyonder.co.uk
bigpond.com optusnet.com.au telus.net rogers.com shaw.ca sympatico.ca bell.net videotron.ca xtra.co.nz uol.com.br bol.com.br terra.com.br ig.com.br globo.com
seznam.cz centrum.cz wp.pl o2.pl onet.pl interia.pl ziggo.nl kpnmail.nl planet.nl home.nl telenet.be skynet.be bluewin.ch
zoho.com fastmail.com fastmail.fm hushmail.com tutanota.com tuta.io hey.com rediffmail.com docomo.ne.jp ezweb.ne.jp softbank.ne.jp
`
  .trim()
  .split(/\s+/)

/** Brands that no other provider shares: whatever follows the dot, this domain was meant. */
export const SOLE_DOMAINS: Readonly<Record<string, string>> = {
  gmail: 'gmail.com',
  googlemail: 'googlemail.com',
  icloud: 'icloud.com',
  comcast: 'comcast.net',
  protonmail: 'protonmail.com',
  sbcglobal: 'sbcglobal.net',
  bellsouth: 'bellsouth.net',
  rocketmail: 'rocketmail.com',
}

/** Brands with a domain in most countries: `<brand>.<public suffix>` belongs to them. */
export const BRAND_FAMILIES: readonly string[] = ['yahoo', 'hotmail', 'outlook', 'gmx', 'yandex', 'aol']

const POPULAR = new Set(POPULAR_DOMAINS)

/** Whether a domain is a well-known provider's, where anyone can get a mailbox. `domain` in lower case, as A-labels. */
export const isPopular = (domain: string): boolean => POPULAR.has(domain) || isBrandDomain(domain)

function isBrandDomain(domain: string): boolean {
  const [brand = '', ...rest] = domain.split('.')
  return BRAND_FAMILIES.includes(brand) &&
    registrableDomain(domain) === domain &&
    publicSuffix(domain) === rest.join('.')
    ? isCountrySuffix(rest)
    : false
}

/** `fr`, `co.uk`, `com.br`, `com`: suffixes that brands use, not `shop` or `xyz`. */
const isCountrySuffix = (labels: readonly string[]): boolean =>
  labels.join('.') === 'com' || (labels.at(-1)!.length === 2 && labels.every((label) => label.length <= 3))
