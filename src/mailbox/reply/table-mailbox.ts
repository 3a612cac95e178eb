import { anyOf, type ReplyRow, rows } from './row.ts'
import { DISABLED_ABROAD, DISABLED_IN_ENGLISH, FULL_ABROAD, FULL_IN_ENGLISH } from './table-languages.ts'

const now = rows('recipient', 'any')
const any = rows('any', 'any')
const forGood = rows('recipient', '5xx')

const MAIL = '(?:e-?mails?|mails?|messages?|posts|postings?|deliveries)'
/** Who may write to a mailbox that is closed to others. */
const INSIDERS =
  '(?:internal(?:ly| \\w{1,12})?|insiders|members|subscribers|staff|employees|colleagues|moderators|owners|family|friends|contacts|authenticated (?:users|senders)|(?:known|approved|authori[sz]ed|permitted|trusted|listed) senders|(?:people|persons|users|senders|those|accounts|addresses) (?:in|inside|within|from|of|on)|from (?:inside|within)|inside (?:the |this |our )?(?:compan|organi|domain|network)\\w{0,8})'
const OUTSIDERS = '(?:outsiders|strangers|guests|non-?members|non-?subscribers)'
const OUTSIDE = `(?:(?:the )?(?:outside|external|internet)|${OUTSIDERS})`
const REFUSED =
  '(?:not|never|cannot|no|refused|rejected|denied|blocked|discarded|dropped|prohibited|disallowed|disabled|turned away)'
const GROUP = '(?:(?:mailing |distribution )?(?:group|list)|mail ?box|recipient|address|account)'
const NO_HOST = '(?!.{0,20}\\b(?:hosts?|servers?|ips?|mtas?|networks?)\\b)'
/** The mailbox exists and accepts mail from inside, from its members, or none at all. */
const RESTRICTED = new RegExp(
  [
    `\\b(?:only|just|exclusively|solely)\\b.{0,60}\\b(?:${INSIDERS}|sending)\\b${NO_HOST}`,
    `\\b(?:from|for|by|to) (?:its |the |our )?(?:\\w{1,12} )?${INSIDERS} (?:only|alone|exclusively)\\b|\\b(?:colleagues|moderators|members|subscribers|staff|employees) only\\b`,
    `\\b(?:accepts?|accepted|takes?|receives?|reads?) (?:${MAIL} )?only from\\b${NO_HOST}|\\b${GROUP}\\b.{0,20}\\b(?:accepts?|takes?|receives?|reads?) ${MAIL} from (?:its |the |our )?(?:\\w{1,12} )?${INSIDERS}${NO_HOST}|\\bis only accepting ${MAIL} from\\b|\\baccepted from (?:the )?\\w{1,20} only\\b|\\baccepts? ${MAIL} from (?:\\w{1,16} ){1,3}(?:only|exclusively|solely)\\b`,
    `\\bonly (?:accepts?|takes?|receives?|reads?) ${MAIL} from (?:known|people|senders|users|addresses|authenticated|its|the)\\b${NO_HOST}|\\b(?:only|just)\\b.{0,40}\\bfrom people (?:she|he|they|we|i) knows?\\b`,
    `\\b${GROUP}\\b.{0,20}\\b(?:(?:restricted|reserved|limited) (?:to|for)|closed to)\\b|\\bclosed to ${OUTSIDE}|\\brestrict\\w{0,3} who (?:may|can)\\b|\\b${GROUP}\\b.{0,20}\\b(?:is|are) (?:open to|(?:meant |intended )?for) (?:its |our |the |this )?(?:\\w{1,12} )?${INSIDERS}`,
    '\\b(?:group|list) is (?:closed|internal|private|moderated|members-only)\\b|\\b(?:mail ?box|address|recipient) is (?:internal|private)\\b(?! ip)|\\bis an? (?:internal|private) (?:mail ?box|address|recipient)\\b|\\b(?:closed|members-only|private|internal) (?:mailing list|distribution list|list|group)\\b',
    `\\b(?:internal use|internal (?:mail|recipients?|users?|address(?:es)?)) only\\b|\\bfor (?:family|friends|\\w{1,12} use) only\\b`,
    `\\b(?:not|never|n't|no|refuses?|rejects?|blocks?|disallows?|cannot|closed to)\\b.{0,40}\\b(?:external|outside) (?:senders?|${MAIL}|addresses|parties|world)\\b`,
    `\\b(?:not|never|n't|no|refuses?|rejects?|cannot|(?:has )?blocked|blocks?|disallows?)\\b.{0,40}\\bfrom ${OUTSIDE}\\b(?! (?:hosts?|servers?))`,
    `\\b(?:${MAIL}|senders?) (?:coming )?from ${OUTSIDE}\\b.{0,40}\\b${REFUSED}\\b|\\b(?:external|outside) (?:senders?|${MAIL})\\b.{0,40}\\b${REFUSED}\\b|\\bsenders? outside\\b.{0,40}\\b(?:not|no)\\b|\\b${OUTSIDERS} (?:(?:may|can|could|is|are|have) ?)?(?:not|no|rejected|refused|disabled)\\b|\\bfor (?:outside|external) senders\\b|\\b(?:nobody|no ?one) (?:outside|except|but)\\b`,
    "\\b(?:not|isn't) (?:in|on|among) (?:the |this )?(?:recipient|user|owner|list|group)(?:'s (?:\\w{1,12} )?list|(?:'s)? (?:\\w{1,12} )?(?:contacts?|address ?book|friends|senders|members))\\b",
    '\\b(?:unauthenticated|anonymous|unknown|unregistered|unapproved) (?:senders|users|people) (?:may|can|could|are)\\b.{0,30}\\b(?:group|list|mail ?box|recipient|address)\\b',
    "\\b(?:recipient|mailbox|user|group|list) (?:does not|doesn't) accept (?:e-?mails?|mail|messages) from (?:unknown|other|all|unlisted) senders|\\bnot (?:on|in) (?:the|its|his|her|their|our) list of (?:\\w{1,12} ){0,2}(?:allowed|permitted|approved|authori[sz]ed|trusted)\\b|\\ballowed senders list",
    `\\bdelivery is not (?:allowed|permitted) to this ${GROUP}|\\b(?:delivery|posting|writing|sending|access|mail) to (?:this|the|that) (?:user|${GROUP}) is (?:restricted|limited|reserved|closed|forbidden|prohibited|not (?:allowed|permitted))|\\b${GROUP}\\b.{0,20}\\bnot (?:open|available) to (?:the public|everyone|everybody|all)\\b`,
    `\\bneeds? (?:the )?(?:approval|consent)\\b|\\bneed (?:the )?permission\\b.{0,40}\\b${GROUP}\\b|\\b(?:you are|sender is) not (?:a member|a subscriber|subscribed)\\b|\\b(?:must|have to|need to) be (?:an? )?(?:\\w{1,12} )?(?:members?|subscribers?|subscribed|employees?)\\b|\\bonly\\b.{0,40}\\b(?:may|can|are allowed to) (?:post|write)\\b`,
    '\\b(?:authenticat\\w{2,4}|log(?:ged)? ?in)\\b.{0,30}\\b(?:send|write|post|mail)(?: to)? (?:this|the|that) (?:group|list|distribution)\\b',
    `\\bsend-?only\\b|\\b(?:unattended|unmonitored|(?:do-?not|no)-?reply) (?:mailbox|address|account)\\b|\\bannounce(?:ment)?-?only\\b|\\bno replies are (?:read|accepted|received)\\b|\\b(?:outgoing (?:\\w{1,16} )?|to send )only\\b|\\b(?:sending|outgoing (?:mail|messages)) only\\b(?! (?:allowed|permitted))`,
    `\\b(?:user|mailbox|account|recipient)\\b.{0,12}\\b(?:cannot|can't|can not|is unable to|is not able to) receive (?:any )?${MAIL}\\b(?! (?:from|at th))`,
  ].join('|'),
)

/**
 * Read before all others: the codes are unmistakable, but their texts mention the sender. The mailbox exists and
 * accepts no mail from outside.
 */
export const CLOSED_TO_OUTSIDERS: readonly ReplyRow[] = [
  forGood(
    'recipient_restricted',
    /\b5\.7\.1(?:2|24|29|3[3-6])\b|sendernotauthenticatedfor|resolver\.rst\.(?!\w{0,20}size)\w/,
    'Microsoft 365, Exchange',
    '550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required; Delivery restriction check failed because the sender was not authenticated when sending to this group',
  ),
  forGood(
    'recipient_restricted',
    RESTRICTED,
    'Microsoft 365, Exchange, Mailman, ezmlm, Sympa',
    '550 5.7.1 This mailbox is restricted to senders inside the company',
  ),
  forGood(
    'recipient_restricted',
    anyOf(
      /\bseuls? (?:les |des )?(?:membres|abonnes|employes|internes)\b/,
      /\b(?:no|non|nao|n'acceptent?|n'accepte)\b.{0,40}\b(?:extern[oaie]s?|externes?|estern[oaie])\b/,
      /\b(?:solo invio|solo envio|somente envio|envoi uniquement|nur (?:zum )?(?:versand|senden))\b/,
      /\b(?:nur|ausschlie(?:ss|ß)lich)\b.{0,60}\b(?:intern\w{0,3}|mitglieder\w{0,2}|abonnenten|innerhalb|bekannten|mitarbeiter\w{0,2}|kollegen|familie|freunden?)\b/,
      /\bextern\w{0,2} (?:absender\w?|nachrichten|e-?mails?)\b.{0,30}\b(?:gesperrt|nicht|verboten|abgelehnt|blockiert)/,
      /\bvon (?:au(?:ss|ß)en|extern)\b.{0,30}\b(?:nicht|keine|abgelehnt|verweigert)/,
      /\b(?:keine|nicht)\b.{0,40}\b(?:von (?:au(?:ss|ß)en|au(?:ss|ß)erhalb|extern)|extern\w{0,2} (?:absender\w?|nachrichten|e-?mails?))/,
      /(?:\b(?:que|uniquement|seulement|exclusivement|reserve\w{0,2}|riservat[ao]|reservad[ao])\b|\bqu')(?:.{0,50}\b)?(?:internes?|collaborateurs|employes|salaries|membres|abonnes|l'interieur|intern[io]|iscritti|membri|miembros|suscriptores|membros)\b/,
      /\b(?:solo|solamente|unicamente|soltanto|esclusivamente|so|somente|apenas)\b.{0,50}\b(?:intern[oaie]s?|de la empresa|da empresa|dell'azienda|empleados|dipendenti|funcionarios|miembros|suscriptores|membri|iscritti|membros|assinantes|(?:de )?dentro)\b/,
      /\b(?:alleen|uitsluitend)\b.{0,50}\b(?:interne?|leden|binnen)\b/,
      /\btylko\b.{0,50}(?:wewn[eę]trzn|cz[lł]onk|subskrybent)/,
      /только.{0,50}(?:внутренн|член|участник|подписчик|сотрудник)/,
      /внешн\S{1,4} (?:отправител|почт|сообщен|адрес)\S{0,3}.{0,30}(?:не |запрещ)/,
      /(?:лише|тільки).{0,50}(?:внутрішн|учасник)|\b(?:pouze|jen)\b.{0,50}\b(?:intern|clen)/,
      /\b(?:endast|bara|kun|bare)\b.{0,50}\b(?:intern\w{0,2}|medlemm\w{2,4}|medlemmer)\b/,
      /\b(?:yaln[ıi]z|sadece)\S{0,3}.{0,50}(?:dahili|kurum ici|uye)|(?:内部|社内|会員|メンバー|組織内).{0,12}(?:のみ|だけ|専用)/,
      /外部.{0,16}(?:拒否|受け付け|受信でき|許可されて|拒收|拒绝|不接受|不允许)|[只仅僅].{0,12}(?:内部|內部|成员|成員|会员|组织)|(?:내부|사내|회원|구성원).{0,16}만/,
      /외부.{0,16}(?:거부|수신하지|허용하지|허용되지)/,
    ),
    'German, Romance, Dutch, Slavic, Nordic, Turkish, East Asian hosts',
    '550 5.7.1 Dieses Postfach nimmt nur interne Nachrichten an',
  ),
  forGood(
    'recipient_restricted',
    anyOf(
      /\bgroup you tried to contact\b/,
      /\bpermission to (?:post|send|e-?mail|write)\b.{0,40}\b(?:group|list|recipient|mailbox|address)/,
      /\b(?:not allowed|not permitted|not authori[sz]ed) to (?:(?:post|send(?: mail| messages)?|write|mail) to|mail|e-?mail|contact) (?:(?:this|the|that|a) )?(?:group|mailing list|list|distribution)/,
    ),
    'Google Groups',
    '550-5.7.1 The group you tried to contact (team) may not exist, or you may not 550-5.7.1 have permission to post messages to the group. 550 5.7.1 https://support.google.com/a/answer/168383 a1si1 - gsmtp',
  ),
]

const OWNER = '(?:recipient|mail ?box|user|in-?box)'
const ANY_OWNER = '(?:recipient|mail ?box|user|in-?box|account|address)'
const TIME = '(?:hour(?:ly)?|day|daily|today|minute|week(?:ly)?)'
const INCOMING = '(?:receiv\\w{0,3}|incoming|inbound)'
const LIMIT = '(?:limit\\w{0,2}|rate|quota|cap|ceiling|threshold|allowance|maximum)'
/** The mailbox exists and gets too much at once. */
const THROTTLED = new RegExp(
  [
    `\\b${INCOMING} (?:messages? |mail )?${LIMIT}\\b|\\btoo (?:many|much) (?:incoming|inbound) ${MAIL}`,
    `\\b${ANY_OWNER}\\b.{0,50}\\b${INCOMING}\\b.{0,40}\\b(?:${LIMIT}|too (?:many|much|fast|quickly|often)|faster than|allowed|may)\\b`,
    `\\b${INCOMING}\\b.{0,30}\\b${LIMIT}\\b.{0,40}\\b${OWNER}\\b`,
    `\\b${LIMIT} (?:of|for|on) ${INCOMING}\\b.{0,60}\\b(?:for|of|by|to) (?:this|the|that) ${OWNER}\\b|\\b${LIMIT}\\b.{0,30}\\b${MAIL}\\b.{0,30}\\b(?:for|to) (?:this|the|that) ${OWNER}\\b`,
    `\\b(?:recipient|mail ?box|in-?box) (?:is |was )?(?:being )?(?:rate.?limited|throttled)`,
    `^(?!.{0,4096}\\b(?:send\\w{0,4}|outgoing|outbound|relay|ips?|hosts?|client|US)\\b).{0,4096}\\b${OWNER}\\b(?! (?:limit|rate|quota|count|address rejected)).{0,60}\\b(?:${TIME}\\b.{0,30}\\b${LIMIT}|${LIMIT}\\b.{0,30}\\b${TIME})\\b`,
    `\\b${TIME}\\b.{0,20}\\b${LIMIT} (?:of|for) (?:this|the|that) ${OWNER}\\b`,
    `\\b${ANY_OWNER}\\b.{0,40}\\b${LIMIT} (?:of|for|on) (?:${INCOMING}|${MAIL} (?:per|an?|each) (?:hour|day|minute)\\b.{0,20}\\breceiv)`,
    `\\b${OWNER}\\b.{0,30}\\b(?:(?:takes?|accepts?|receives?) (?:no more than|at most|only|up to)|(?:is |are )?limited to) \\d+ `,
    `\\b${ANY_OWNER}\\b.{0,40} (?:is )?(?:getting|gets|receives|receiving|got|being sent) (?:too (?:many|much)|more ${MAIL} than)`,
    `\\b${OWNER}\\b.{0,30}\\b(?:number of|too many) ${MAIL}\\b.{0,40}\\b(?:receive|accept|hour|day|minute)\\b`,
    `\\b${OWNER}(?: \\w{1,12}){0,2} rate (?:for )?(?:<> )?(?:is )?exceeded`,
    `\\b(?:receiving|getting|gets|receives) (?:more )?(?:e-?)?mail (?:too|at (?:a|too)|than allowed)`,
    `\\btoo (?:many|much) (?:recent |concurrent |simultaneous |parallel |incoming |inbound )?${MAIL}\\b.{0,20}\\b(?:for|to) (?:this|the|that) ${OWNER}\\b|\\btoo (?:fast|quickly|often|many|much) for (?:this|the|that) ${OWNER}\\b`,
    `\\b${OWNER}\\b.{0,20}\\b(?:too many ${MAIL} at (?:once|the same time)|(?:got|received|had) (?:\\d+|too many|enough) ${MAIL}\\b.{0,20}\\b(?:hour|day|minute)\\b)`,
    `\\b(?:delivery|message|mail) rate (?:for|of) (?:this|the) ${OWNER}\\b`,
    `\\brate.?limit\\w{0,3}\\b.{0,30}\\b(?:for|of) (?:the |this |that )?${OWNER}\\b(?!/)`,
    '\\breceived too (?:much|many)\\b(?!.{0,40}\\b(?:from|ip|host)\\b)|\\breceivingrate|\\brecipient thread limit',
  ].join('|'),
)

const BOX = '(?:mail ?box|recipient|user|account)'
const OFF_FOR_A_TIME = new RegExp(
  [
    '^(?!5\\.2\\.1).{0,4096}\\btemporarily (?:inactive|not active|disabled|deactivated)\\b',
    '\\b(?:for|under|in) maintenance\\b',
    // The codes contradict each other.
    `^4\\.\\d\\.\\d.{0,80}\\b${BOX} (?:is )?(?:unavailable|not available|busy)\\b`,
    `\\b${BOX} (?:is )?(?:unavailable|not available) (?:for now|at (?:the|this) (?:moment|time)|right now|today|until)\\b`,
    `\\b${BOX} (?:is |was )?(?:locked|in use) by (?:another|a different)\\b`,
  ].join('|'),
)

/** Steps 2 to 4: the mailbox exists (or did) and accepts nothing: full, throttled, disabled. */
export const AT_THE_MAILBOX: readonly ReplyRow[] = [
  now(
    'recipient_throttled',
    THROTTLED,
    'Gmail, Exchange',
    '450 4.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered. Please resend your message at a later time.',
  ),
  now(
    'recipient_throttled',
    anyOf(
      /\bempfangs-?(?:limit|grenze|rate)\b|\blimite? (?:de |di )?(?:recepcion|ricezione|reception|recepcao)\b/,
      /受信(?:数|制限|上限)/,
      /\b(?:empfanger\w{0,2}|postfach\w{0,3})\b.{0,60}(?:(?:erhalt|bekommt|empfangt)(?: \w{1,12})? zu viele|zu viele (?:nachrichten|e-?mails).{0,30}(?:empfang|erhalt|bekomm)|empfangs(?:limit|grenze|rate)|(?:stunden|tages)limit|\blimit (?:an|fur|von|der|eingehender)\b)/,
      /\b(?:destinataire|boite)\b.{0,60}\b(?:trop de (?:messages|courriers)|limite de reception|nombre de messages)/,
      /\b(?:destinatario|buzon|casilla|caixa|casella)\b.{0,60}\b(?:demasiados (?:mensajes|correos)|limite de recep|numero (?:maximo )?de (?:mensajes|mensagens)|muitas mensagens|troppi messaggi|limite di ricezione)/,
      /(?:получател|ящик).{0,60}(?:слишком много (?:писем|сообщений)|лимит (?:входящ|при[её]м)|превы\S{3,6} (?:числ|лимит))/,
      /(?:收件人|邮箱|用户|郵箱).{0,16}(?:接收|收信).{0,12}(?:过多|过于频繁|频率|上限|限制|限額)/,
      /\bodbiorc\w\b.{0,60}\b(?:zbyt wiele|limit odbioru)/,
    ),
    'German, Romance, Russian, Chinese, Polish hosts',
    '450 4.2.1 Der Empfänger hat sein Empfangslimit erreicht',
  ),
  now(
    'temporary_failure',
    anyOf(
      /\b(?:queue|organi[sz]ation|system|server) quota\b|mail system full|system storage/,
      /\b(?:server|system|host|machine)(?:'s)?\b.{0,20}\b(?:disk|storage|file ?system)\b/,
      /\b[45]\.3\.1 .{0,20}\b(?:disk|storage|space)\b|\bdisk full on\b/,
    ),
    'Microsoft 365',
    '450 4.7.3 Organization queue quota exceeded. [outlook.com]',
  ),
  any(
    // A quota over time, or of a sender, is a limit on us.
    'rate_limited',
    anyOf(
      /\b(?:hourly|daily|weekly|monthly|per.?(?:hour|day|minute)|sending|senders?|outgoing|outbound)(?: \w{1,12}){0,2} quota\b/,
      /\bquota\b.{0,40}\b(?:per|an|a|this) (?:hour|day|minute|month)|\bthrottl\w{0,4}\b.{0,60}\bquota/,
      /\bquota\b.{0,60}\bthrottl/,
      /\bquota\b.{0,40}\b(?:for|of|from|by) (?:the |your |this |that )?(?:\S{1,24} )?(?:sender|sending|host|client|ip|connection|sasl|network|source)\b/,
    ),
    'cluebringer (policyd)',
    '554 5.7.1 Hourly recipients quota exceeded for host 192.0.2.1',
  ),
  any(
    // A quota of messages, recipients or hosts, and one with a policy code, unless a mailbox, a user or storage is
    // named.
    'rate_limited',
    /^(?!.{0,4096}(?:\b(?:mail ?box|in-?box|maildir|mail folder|users?|recipient (?:is )?(?:over|above|out of)|account|storage|disk|space|e-?mail quota|[45]\.2\.[12])\b)).{0,4096}(?:\b(?:messages?|mails|e-?mails|recipients|rcpts?|connections?|rate|deliver(?:y|ies)|sessions?|hosts?|ip|client|policy)(?: (?:count|rate|limit|volume|address))? quota\b|\brecipient (?:count|rate|limit|volume) quota\b|\bquota of (?:messages|mails|e-?mails|recipients|connections|hosts)|\bexceed\w{0,3} your\b.{0,30}\bquota|\b[45]\.7\.\d{1,3}\b.{0,300}\bquota)/,
    'iRedAPD, policyd',
    '450 4.7.1 <user@example.org>: Recipient address rejected: Policy rejection; Message count quota exceeded; try again later',
  ),

  now(
    'temporary_failure',
    /\bunknown or (?:the )?mailbox (?:is )?full\b/,
    'a host that does not tell which',
    '451 4.2.0 user unknown or mailbox full',
  ),
  now(
    'mailbox_full',
    anyOf(
      /\bover-?quota\b|\bquota\b.{0,20}\bexceed/,
      /\bexceed\w{0,3}\b.{0,40}\b(?:quota|storage allocation|disk space|storage limit|space limit|limit for this mailbox|mailbox (?:size|limit))/,
      /\b(?:mailbox|account|inbox)\b.{0,20}\bexceeded (?:the |its |their |his )?(?:storage |size |disk |space )?limit\b(?!.{0,30}(?:message|rate|hour))/,
      /\bout of (?:mailbox |storage )?(?:quota|storage)\b|\b(?:not able|unable) to receive (?:any )?more\b/,
      /\b(?:cannot|can't) receive any more\b/,
      /\b(?:mailbox|account|user|recipient)\b.{0,30}\b(?:exhausted|used up)\b.{0,30}\b(?:quota|space|storage)\b/,
      /\b(?:mailbox|account|user|inbox|recipient)\b.{0,40}\bexceed\w{0,3}\b.{0,40}\b(?:size|space|storage|capacity|maximum)/,
      /\b(?:mailbox|postfach)\b.{0,20}\bzu viele nachrichten|\b0 (?:bytes|[km]b) (?:left|free)\b/,
      /\bmaximum allowed (?:mailbox size|storage|number of messages)\b|\ballowed message count\b/,
      /\blarger than the space available\b|\bover quote\b|\blimit ex?c?eeded for this (?:e-?mail )?address\b/,
      /\b(?:does not|doesn't) fit in(?:to)?\b/,
      /\bstorage (?:limit|space)\b.{0,20}\b(?:reached|exceeded|exhausted|used)/,
      /too (?:many|much) (?:mails?|messages) (?:on the server|in (?:the |this )?mailbox|stored)/,
    ),
    'RFC 5321 §4.2.3',
    '552 Requested mail action aborted: exceeded storage allocation',
  ),

  FULL_IN_ENGLISH,
  FULL_ABROAD,
  now('mailbox_full', /\b(?:c?quota|cuota|cota)\b|квот/, 'any host, in any language', '552 5.2.2 Skrzynka: quota 100%'),

  now(
    'recipient_throttled',
    anyOf(
      /\b(?:recipient(?! address rejected)|user|mailbox|account)\b.{0,40}\bexceeded\b.{0,40}\b(?:rate|number of messages|messages? per|limit)/,
      /(?<!\byou (?:are sending|have sent|sent|send) |(?:\bthrottl|\byour (?:ip|host|server)\b|(?:US-)?IP).{0,60})too many (?:recent )?messages\b(?!.{0,30}\b(?:connection|session|from))/,
      /deferred due to excessive volume/,
      /\bmessages (?:that )?(?:they|it|he|she) (?:can|may|is allowed to) (?:send to this recipient|receive)/,
      /\b[45]\.2\.12[12]\b/,
    ),
    'Yandex, iCloud, Comcast, Microsoft 365',
    '450 4.2.1 The recipient has exceeded message rate limit. Try again later.',
  ),

  forGood(
    // Off for a time: final by its code, not by its words.
    'unclear_refusal',
    OFF_FOR_A_TIME,
    'hosts of several systems',
    '550 Recipient Rejected: Temporarily inactive',
  ),
  forGood(
    'mailbox_disabled',
    anyOf(
      /\b(?:disabled|suspended|deactivated|inactive|frozen|parked|terminated|expired|locked|closed) (?:e-?mail |mail |recipient |user )?(?:account|mailbox|user|address|recipient|inbox)/,
      /\binactiv(?:e|ity)\b|\b(?:has not|hasn't|never) (?:entered|logged (?:in|on|onto))\b/,
      /\bnot an? active (?:address|account|mailbox|user)\b|^(?:\d\.\d\.\d{1,3} )?(?:<> )?deactivated\b/,
      /(?:<>:? |^(?:\d\.\d\.\d{1,3} )?)(?:(?:is|was|has been) )?(?:now |currently )?(?:disabled|suspended|deactivated|locked|frozen|closed)\b(?! (?:port|service|command|for (?:your|this)))/,
      /\bis no longer valid\b/,
      /\b(?:switched|turned|shut) (?:the |this |his |her |their )?(?:mailbox|account|address) (?:off|down)\b/,
      /\bno ?(?:recipient |user |account |mailbox |login )?activity\b/,
      /\b(?:should|must|needs to|has to) log ?in\b.{0,30}\b(?:enable|activate|receiv|unlock)/,
    ),
    'iCloud',
    '550 5.1.1 <user@icloud.com>: inactive email address',
  ),
  forGood(
    'mailbox_disabled',
    anyOf(
      /\b(?:mail|e-?mail) (?:service|access|delivery)\b.{0,40}\b(?:switched off|turned off|disabled|suspended)\b/,
      /\bmail\b.{0,20}\bnot (?:currently (?:being )?|being )accepted (?:for|at|by) (?:this|that|the) (?:mailbox|user|account|recipient|address)\b/,
      /\bdisabled for lack of use\b/,
      /\b(?:mailbox|account|user|address) (?:is )?not (?:allowed|permitted|enabled) to receive\b/,
      /\bmailbox (?:is |has been )?(?:blocked|locked)|\baccount (?:is |has been )(?:blocked|locked)/,
      /policy rejection on the target address/,
    ),
    'CommuniGate, Yandex',
    '550 user@example.org mail service is disabled for this account',
  ),
  forGood(
    'mailbox_disabled',
    anyOf(
      /\barchived (?:recipient|mailbox|account)\b|\b(?:recipient|mailbox|account) (?:is |was |has been )?archived\b/,
      /\bboite (?:du destinataire |aux lettres )?archivee\b/,
    ),
    'Orange',
    '550 5.1.0 Boîte du destinataire archivée. Archived recipient. OFR204_417',
  ),
  DISABLED_IN_ENGLISH,
  DISABLED_ABROAD,
  forGood(
    'mailbox_disabled',
    /^(?!.{0,4096}\b(?:your|sender|ip|server|host)\b).{0,4096}(?:\bmail (?:receiving|reception|delivery) (?:is |has been )?(?:disabled|suspended)|\bmail ?address(?:es)? (?:is |are |has been )?(?:administrative(?:ly)? )?(?:disabled|suspended|deactivated|blocked)|\b(?:user|mailbox|account|recipient|address)\b.{0,20}\bnot (?:currently |presently )?accepting (?:any )?(?:new )?(?:(?:e-?)?mails?|messages)\b(?! (?:from|with))|\bno longer (?:in use|used|accepting (?:e-?)?mail)\b|\b(?:account|mailbox|user)(?: is| has been)? (?:dormant|archived|unsubscribed|retired)\b|\b(?:subscription|contract|lease)\b.{0,20}\b(?:has )?(?:expired|lapsed|ended)\b)/,
    'Sun Messaging Server, CommuniGate',
    '550 5.7.1 mail receiving disabled',
  ),
]
