import { type ReplyRow, rows } from './row.ts'
import { DISABLED_ABROAD, DISABLED_IN_ENGLISH, FULL_ABROAD, FULL_IN_ENGLISH } from './table-languages.ts'

const now = rows('recipient', 'any')
const any = rows('any', 'any')
const forGood = rows('recipient', '5xx')

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
    /\ballowed senders list|\b(?:recipient|mailbox|user|group|list) (?:does not|doesn't) accept (?:e-?mails?|mail|messages) from (?:unknown|other|all|unlisted) senders|\bdelivery is not (?:allowed|permitted) to this (?:address|recipient|mailbox)|\bdelivery to this (?:address|recipient|group|mailbox|user) is (?:restricted|not (?:allowed|permitted))|\bis only accepting (?:e-?mails?|mail|messages) from\b|\bnot permitted to .{0,30}from outside|\baccepted from (?:the )?\w{1,20} only\b|\b(?:accepts?|takes?|receives?|reads?) (?:e-?mails?|mail|messages) only from\b(?! (?:(?:registered|known|trusted) )?(?:hosts?|servers?|ip|mtas?|networks?)\b)|\b(?:accepts?|takes?|receives?|gets?) no (?:e-?mails?|mail|messages) from (?:the |any )?(?:outside|external|outsiders|strangers|internet|non-?members)|\b(?:outsiders|strangers|guests|non-?members) (?:may|can|could) ?not\b|\bonly (?:accepts?|takes?|receives?|reads?) (?:e-?mails?|mail|messages) from (?:contacts|friends|known|people|senders|members|users|addresses|authenticated|internal|its|the|within|inside)|\b(?:does not|doesn't|do not|not) accept (?:e-?mails?|mail|messages) from (?:outside|external|the internet|non-?members|outsiders)/,
    'Microsoft 365',
    "550 5.7.124 RESOLVER.RST.SenderNotInAllowedSendersList; the sender isn't in the recipient's allowed senders list",
  ),
  forGood(
    'recipient_restricted',
    /\b(?:only|just|exclusively|solely)\b.{0,60}\b(?:internal(?:ly)?|(?:from|senders?) (?:inside|within)|inside (?:the |this |our )?(?:compan|organi|domain|network)|members|subscribers|staff|employees|colleagues|authenticated (?:users|senders)|(?:known|approved|authori[sz]ed|permitted|trusted) senders|sending)\b(?! (?:hosts?|servers?|ip|network))|\bfrom (?:its |the |our )?(?:members|subscribers|staff|employees|inside|insiders|internal \w{1,12}|authenticated \w{1,12}) only\b|\b(?:e-?mails?|mails?|messages?|postings?|senders?) (?:coming )?from (?:the )?(?:outside|external|non-?members|outsiders|strangers|internet)\b.{0,40}\b(?:not|never|refused|rejected|denied|blocked|prohibited|disallowed)\b|\b(?:not|never|n't|no|refuses?|rejects?|cannot|closed to)\b.{0,40}\b(?:external|outside) (?:senders?|e-?mails?|mails?|messages?|addresses|parties|world)\b|\b(?:not|never|n't|refuses?|rejects?|cannot) (?:accept|take|receive|allow)?\w{0,3} ?.{0,24}\bfrom (?:the )?(?:outside|external|outsiders|non-?members|strangers|internet)\b(?! (?:hosts?|servers?))|\b(?:external|outside) (?:senders?|e-?mails?|mails?|messages?)\b.{0,40}\b(?:not|cannot|refused|rejected|blocked|denied|discarded|dropped|prohibited|turned away)\b|\b(?:mailbox|recipient|address|group|list|account)\b.{0,20}\b(?:is |are )?(?:(?:restricted|reserved|limited) (?:to|for)|closed to)\b|\bsend-?only\b|\b(?:unattended|unmonitored|(?:do-?not|no)-?reply) (?:mailbox|address|account)\b|\b(?:colleagues|moderators|members|subscribers|staff|employees) only\b|\bannounce(?:ment)?-?only\b|\bno replies are (?:read|accepted|received)\b|\b(?:user|mailbox|account|recipient)\b.{0,12}\b(?:cannot|can't|can not|is unable to|is not able to) receive (?:any )?(?:e-?mails?|mail|messages)\b(?! (?:from|at th))|\b(?:only|just)\b.{0,40}\bfrom people (?:she|he|they|we|i) knows?\b|\bfor (?:family|friends|\w{1,12} use) only\b|\bsenders? outside\b.{0,40}\b(?:not|no)\b|\bnon-?(?:members|subscribers) is (?:disabled|not)|\boutgoing (?:\w{1,16} )?only\b|\bto send only\b|\bnot (?:on|in) (?:the|its|his|her|their|our) list of (?:\w{1,12} ){0,2}(?:allowed|permitted|approved|authori[sz]ed|trusted)\b|\b(?:sending|outgoing (?:mail|messages)) only\b(?! (?:allowed|permitted))/,
    'Exchange, Mailman',
    '550 5.7.1 This mailbox is restricted to senders inside the company',
  ),
  forGood(
    'recipient_restricted',
    /\b(?:solo invio|solo envio|somente envio|envoi uniquement|nur (?:zum )?(?:versand|senden))\b|\b(?:nur|ausschlie(?:ss|ß)lich)\b.{0,60}\b(?:intern\w{0,3}|mitglieder\w{0,2}|abonnenten|innerhalb|bekannten|mitarbeiter\w{0,2}|kollegen|familie|freunden?)\b|\bvon (?:au(?:ss|ß)en|extern)\b.{0,30}\b(?:nicht|keine|abgelehnt|verweigert)|\b(?:keine|nicht)\b.{0,40}\b(?:von (?:au(?:ss|ß)en|au(?:ss|ß)erhalb|extern)|extern\w{0,2} (?:absender\w?|nachrichten|e-?mails?))|(?:\b(?:que|uniquement|seulement|exclusivement|reserve\w{0,2}|riservat[ao]|reservad[ao])\b|\bqu')(?:.{0,50}\b)?(?:internes?|collaborateurs|employes|salaries|membres|abonnes|l'interieur|iscritti|membri|miembros|suscriptores|membros)\b|\b(?:solo|solamente|unicamente|soltanto|esclusivamente|so|somente|apenas)\b.{0,50}\b(?:intern[oaie]s?|de la empresa|da empresa|dell'azienda|empleados|dipendenti|funcionarios|miembros|suscriptores|membri|iscritti|membros|assinantes|(?:de )?dentro)\b|\b(?:alleen|uitsluitend)\b.{0,50}\b(?:interne?|leden|binnen)\b|\btylko\b.{0,50}(?:wewn[eę]trzn|cz[lł]onk|subskrybent)|только.{0,50}(?:внутренн|член|участник|подписчик|сотрудник)|внешн\S{1,4} (?:отправител|почт|сообщен|адрес)\S{0,3}.{0,30}(?:не |запрещ)|(?:лише|тільки).{0,50}(?:внутрішн|учасник)|\b(?:pouze|jen)\b.{0,50}\b(?:intern|clen)|\b(?:endast|bara|kun|bare)\b.{0,50}\b(?:intern\w{0,2}|medlemm\w{2,4}|medlemmer)\b|\b(?:yaln[ıi]z|sadece)\S{0,3}.{0,50}(?:dahili|kurum ici|uye)|(?:内部|社内|会員|メンバー|組織内).{0,12}(?:のみ|だけ|専用)|外部.{0,16}(?:拒否|受け付け|受信でき|許可されて|拒收|拒绝|不接受|不允许)|[只仅僅].{0,12}(?:内部|內部|成员|成員|会员|组织)|(?:내부|사내|회원|구성원).{0,16}만|외부.{0,16}(?:거부|수신하지|허용하지|허용되지)/,
    'German, Romance, Dutch, Slavic, Nordic, Turkish, East Asian hosts',
    '550 5.7.1 Dieses Postfach nimmt nur interne Nachrichten an',
  ),
  forGood(
    'recipient_restricted',
    /\bgroup you tried to contact\b|\bpermission to (?:post|send|e-?mail|write)\b.{0,40}\b(?:group|list|recipient|mailbox|address)|\b(?:not allowed|not permitted|not authori[sz]ed) to (?:post|send(?: mail| messages)?|write) to (?:(?:this|the|that|a) )?(?:group|mailing list|list|distribution)/,
    'Google Groups',
    '550-5.7.1 The group you tried to contact (team) may not exist, or you may not 550-5.7.1 have permission to post messages to the group. 550 5.7.1 https://support.google.com/a/answer/168383 a1si1 - gsmtp',
  ),
  forGood(
    'recipient_restricted',
    /\bonly (?:people|persons|users|senders|those|accounts|addresses) (?:inside|within|from|in|of)\b.{0,30}\b(?:can|may|are allowed to)\b|\bonly (?:members|subscribers|moderators|owners|staff|internal (?:users|senders)|authenticated (?:users|senders))\b.{0,30}\b(?:may|can|are allowed to) (?:post|send|write)|\baccepts? (?:mail|e-?mails?|messages|postings?) from (?:\w{1,16} ){1,3}(?:only|exclusively|solely)\b|\bneeds? (?:the )?(?:approval|consent)\b|\bneed (?:the )?permission\b.{0,40}\b(?:group|list|mailbox|address|recipient)\b|\bfor (?:outside|external) senders\b|\blist is closed\b|\b(?:you are|sender is) not (?:a member|a subscriber|subscribed)\b|\bnon-?members? (?:are )?rejected\b|\b(?:closed|members-only|private|internal) (?:mailing list|list|group)\b|\b(?:internal use|internal (?:mail|recipients?|users?|address(?:es)?)) only\b|\bexternal (?:senders?|mail|e-?mail) (?:is |are )?(?:not (?:allowed|accepted|permitted)|rejected|refused)/,
    'Mailman, ezmlm, Sympa',
    '550 5.7.2 Sorry, only subscribers may post to this list (#5.7.2)',
  ),
]

/** Steps 2 to 4: the mailbox exists (or did) and accepts nothing: full, throttled, disabled. */
export const AT_THE_MAILBOX: readonly ReplyRow[] = [
  now(
    'recipient_throttled',
    /\b(?:inbound|incoming) (?:messages? |mail )?(?:quota|limit|rate)\b|\b(?:recipient|mailbox|user|inbox)\b.{0,30}\b(?:takes?|accepts?|receives?) (?:no more than|at most|only|up to) \d+ |\b(?:receiving|getting|gets|receives) (?:more )?(?:e-?)?mail (?:too|at (?:a|too)|than allowed)|\btoo many (?:deliveries|messages) (?:to|for) ASKED|\b(?:recipient|mailbox|inbox|user) limit of (?:incoming|received|inbound)\b|\b(?:mailbox|recipient|user|inbox)\b.{0,40} (?:is )?(?:getting|gets|receives|receiving) too (?:many|much)|\breceivingrate|\brecipient thread limit|\b(?:recipient|mailbox|inbox)(?: \w{1,12}){0,2} rate (?:for )?(?:<> )?(?:is )?exceeded|\b(?:recipient|mailbox|user|inbox)(?:'s)?\b.{0,50}\b(?:receiv\w{0,3}|incoming|inbound)\b.{0,40}\b(?:limit\w{0,2}|rate|quota|too (?:many|much|fast|quickly|often)|maximum|allowed|may)\b|\b(?:receiv\w{0,3}|incoming|inbound)\b.{0,30}\b(?:limits?|rate)\b.{0,40}\b(?:recipient|mailbox|user|inbox)\b|\breceived too (?:much|many)\b(?!.{0,40}\b(?:from|ip|host)\b)|\b(?:delivery|message|mail) rate (?:for|of) (?:this|the) (?:mailbox|recipient|user)\b|\brate.?limit\w{0,3}\b.{0,30}\b(?:for|of) (?:the |this |that )?(?:recipient|mailbox|inbox)\b(?!\/)|\btoo many (?:recent )?(?:messages|e-?mails|mails)\b.{0,20}\b(?:for|to) (?:this|the|that) (?:recipient|mailbox|user|inbox)\b|\b(?:recipient|mailbox|user|inbox)\b.{0,30}\b(?:number of|too many) (?:messages|e-?mails|mails)\b.{0,40}\b(?:receive|accept|hour|day|minute)\b/,
    'Gmail, Exchange',
    '450 4.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered. Please resend your message at a later time.',
  ),
  now(
    'recipient_throttled',
    /\b(?:empfanger\w{0,2}|postfach\w{0,3})\b.{0,60}(?:(?:erhalt|bekommt|empfangt)(?: \w{1,12})? zu viele|zu viele (?:nachrichten|e-?mails).{0,30}(?:empfang|erhalt|bekomm)|empfangs(?:limit|grenze|rate)|\blimit\b)|\b(?:destinataire|boite)\b.{0,60}\b(?:trop de (?:messages|courriers)|limite de reception|nombre de messages)|\b(?:destinatario|buzon|casilla|caixa|casella)\b.{0,60}\b(?:demasiados (?:mensajes|correos)|limite de recep|numero (?:maximo )?de (?:mensajes|mensagens)|muitas mensagens|troppi messaggi|limite di ricezione)|(?:получател|ящик).{0,60}(?:слишком много (?:писем|сообщений)|лимит (?:входящ|при[её]м)|превы\S{3,6} (?:числ|лимит))|(?:收件人|邮箱|用户|郵箱).{0,16}(?:接收|收信).{0,12}(?:过多|过于频繁|频率|上限|限制|限額)|\bodbiorc\w\b.{0,60}\b(?:zbyt wiele|limit odbioru)/,
    'German, Romance, Russian, Chinese, Polish hosts',
    '450 4.2.1 Der Empfänger hat sein Empfangslimit erreicht',
  ),
  now(
    'temporary_failure',
    /\b(?:queue|organi[sz]ation|system|server) quota\b|mail system full|system storage|\b(?:server|system|host|machine)(?:'s)?\b.{0,20}\b(?:disk|storage|file ?system)\b|\b[45]\.3\.1 .{0,20}\b(?:disk|storage|space)\b|\bdisk full on\b/,
    'Microsoft 365',
    '450 4.7.3 Organization queue quota exceeded. [outlook.com]',
  ),
  any(
    // A quota over time, or of a sender, is a limit on us.
    'rate_limited',
    /\b(?:hourly|daily|weekly|monthly|per.?(?:hour|day|minute)|sending|senders?|outgoing|outbound)(?: \w{1,12}){0,2} quota\b|\bquota\b.{0,40}\b(?:per|an|a|this) (?:hour|day|minute|month)|\bthrottl\w{0,4}\b.{0,60}\bquota|\bquota\b.{0,60}\bthrottl|\bquota\b.{0,40}\b(?:for|of|from|by) (?:the |your |this |that )?(?:\S{1,24} )?(?:sender|sending|host|client|ip|connection|sasl|network|source)\b/,
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
    /\bover ?-?(?:\w{1,10} )?quota\b|\bquota ?exceeded|\bquota\b.{0,25}\b(?:full|reached|overflow|violat\w{0,4}|exhausted|used up)|shutoffquota/,
    'Gmail, iCloud',
    '452 4.2.2 The email account that you tried to reach is over quota. Please direct the recipient to https://support.google.com/mail/?p=OverQuotaTemp - gsmtp',
  ),
  now(
    'mailbox_full',
    /\bquota\b.{0,20}\bexceed|\bexceed\w{0,3}\b.{0,40}\b(?:quota|storage allocation|disk space|storage limit|space limit|limit for this mailbox|mailbox (?:size|limit))|\b(?:mailbox|account|inbox)\b.{0,20}\bexceeded (?:the |its |their |his )?(?:storage |size |disk |space )?limit\b(?!.{0,30}(?:message|rate|hour))|\bout of (?:mailbox |storage )?(?:quota|storage)\b|\b(?:not able|unable) to receive (?:any )?more\b|\b(?:cannot|can't) receive any more\b|\b(?:mailbox|account|user|recipient)\b.{0,30}\b(?:exhausted|used up)\b.{0,30}\b(?:quota|space|storage)\b|\b(?:mailbox|account|user|inbox|recipient)\b.{0,40}\bexceed\w{0,3}\b.{0,40}\b(?:size|space|storage|capacity|maximum)|\b(?:mailbox|postfach)\b.{0,20}\bzu viele nachrichten|\b0 (?:bytes|[km]b) (?:left|free)\b|\bmaximum allowed (?:mailbox size|storage|number of messages)\b|\ballowed message count\b|\blarger than the space available\b|\bover quote\b|\blimit ex?c?eeded for this (?:e-?mail )?address\b|\b(?:does not|doesn't) fit in(?:to)?\b|\bstorage (?:limit|space)\b.{0,20}\b(?:reached|exceeded|exhausted|used)|too (?:many|much) (?:mails?|messages) (?:on the server|in (?:the |this )?mailbox|stored)/,
    'RFC 5321 §4.2.3',
    '552 Requested mail action aborted: exceeded storage allocation',
  ),

  FULL_IN_ENGLISH,
  FULL_ABROAD,
  now('mailbox_full', /\b(?:c?quota|cuota|cota)\b|квот/, 'any host, in any language', '552 5.2.2 Skrzynka: quota 100%'),

  now(
    'recipient_throttled',
    /\b(?:recipient(?! address rejected)|user|mailbox|account)\b.{0,40}\bexceeded\b.{0,40}\b(?:rate|number of messages|messages? per|limit)|(?<!\byou (?:are sending|have sent|sent|send) |(?:\bthrottl|\byour (?:ip|host|server)\b|(?:US-)?IP).{0,60})too many (?:recent )?messages\b(?!.{0,30}\b(?:connection|session|from))|deferred due to excessive volume|\bmessages (?:that )?(?:they|it|he|she) (?:can|may|is allowed to) (?:send to this recipient|receive)|\b[45]\.2\.12[12]\b/,
    'Yandex, iCloud, Comcast, Microsoft 365',
    '450 4.2.1 The recipient has exceeded message rate limit. Try again later.',
  ),

  forGood(
    // Off for a time: final by its code, not by its words.
    'unclear_refusal',
    /^(?!5\.2\.1).{0,4096}\btemporarily (?:inactive|not active|disabled|deactivated)\b/,
    'hosts of several systems',
    '550 Recipient Rejected: Temporarily inactive',
  ),
  forGood(
    'mailbox_disabled',
    /\b(?:disabled|suspended|deactivated|inactive|frozen|parked|terminated|expired|locked|closed) (?:e-?mail |mail |recipient |user )?(?:account|mailbox|user|address|recipient|inbox)|\binactiv(?:e|ity)\b|\b(?:has not|hasn't|never) (?:entered|logged (?:in|on|onto))\b|\bnot an? active (?:address|account|mailbox|user)\b|^(?:\d\.\d\.\d{1,3} )?(?:<> )?deactivated\b|(?:<> |^(?:\d\.\d\.\d{1,3} )?)(?:is|was|has been) (?:now |currently )?(?:disabled|suspended|deactivated|locked|frozen|closed)\b|\bis no longer valid\b|\b(?:switched|turned|shut) (?:the |this |his |her |their )?(?:mailbox|account|address) (?:off|down)\b|\bno ?(?:recipient |user |account |mailbox |login )?activity\b|\b(?:should|must|needs to|has to) log ?in\b.{0,30}\b(?:enable|activate|receiv|unlock)/,
    'iCloud',
    '550 5.1.1 <user@icloud.com>: inactive email address',
  ),
  forGood(
    'mailbox_disabled',
    /\b(?:mail|e-?mail) (?:service|access|delivery)\b.{0,40}\b(?:switched off|turned off|disabled|suspended)\b|\bmail\b.{0,20}\bnot (?:currently (?:being )?|being )accepted (?:for|at|by) (?:this|that|the) (?:mailbox|user|account|recipient|address)\b|\bdisabled for lack of use\b|\b(?:mailbox|account|user|address) (?:is )?not (?:allowed|permitted|enabled) to receive\b|\bmailbox (?:is |has been )?(?:blocked|locked)|\baccount (?:is |has been )(?:blocked|locked)|policy rejection on the target address/,
    'CommuniGate, Yandex',
    '550 user@example.org mail service is disabled for this account',
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
