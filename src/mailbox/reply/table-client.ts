import { anyOf, type ReplyRow, rows } from './row.ts'

const us = rows('any', 'any')
const usForNow = rows('any', '4xx')

const TLS = '(?:(?:start)?tls|ssl|encrypt(?:ion|ed)?|secure (?:connection|session|channel)s?)'
/** Mail is only accepted over an encrypted connection. */
const TLS_REQUIRED = new RegExp(
  [
    // Any word of it but those of a server that does not offer it.
    '\\bstarttls\\b(?!.{0,40}\\b(?:not (?:supported|available|offered)|unavailable|fail\\w{0,3}|error|disabled))',
    `(?:\\b(?:must|need to|should|please|has to|have to|needs to) |^(?:5\\.7\\.\\d{1,3} )?)(?:issue|use|enable|send|do|be|start|switch to|negotiate|upgrade to) (?:a |an )?${TLS}\\b`,
    `\\b${TLS}\\b.{0,30}\\b(?:required|mandatory|needed|necessary|obligatory|compulsory|(?:not|isn't) optional|first|erforderlich|requise?|obligatoire)\\b|\\b${TLS}\\b.{0,12}\\bmust\\b|\\b${TLS}\\b.{0,20}\\b(?:only|alone)\\b`,
    `\\b(?:requires?|requiring|demands?|insists? on|enforces?|mandates?|mandatory|needs?|wants?|expects?|only accepts?|accepts only|only (?:with|over|by)|(?:over|via|with)(?= \\w{1,8} only))\\b.{0,30}\\b${TLS}\\b`,
    `\\b(?:only|just|solely|exclusively) (?:an? )?${TLS}\\b|\\bmust be sent over (?:tls|an? encrypted)|\\bnegotiate (?:tls|ssl)\\b|\\bupgrade to (?:tls|ssl)\\b`,
    `\\b(?:without|no|not using|not over|lacks?) ${TLS}\\b(?!.{0,20}\\b(?:supported|available|offered))|\\bnon-?tls (?:connection|session|host)|\\bplain-?text (?:smtp|connections?|sessions?|mail)\\b|\\bno plain-?text\\b|\\b(?:tls|ssl) ?v?\\d(?:\\.\\d)? (?:is the|or (?:later|newer|higher|above))`,
    '\\bno unencrypted\\b|\\bunencrypted (?:connections?|sessions?|mail)\\b.{0,20}\\b(?:not|refused|rejected|denied)|\\b(?:encryption|cipher|tls|ssl)\\b.{0,20}\\btoo weak\\b',
    '\\bmta-?sts enforce|\\b(?:dane|tlsa)\\b.{0,30}\\b(?:required|fail\\w{0,3}|invalid|not valid)|\\b(?:tlsa|dane)-invalid\\b',
    '(?:\\b(?:start)?(?:tls|ssl)|cifrad\\w|cifratura|chiffrement|verschlusselung|versleuteling|szyfrowan\\w{2}|sifrovani|шифрован\\S{2}).{0,20}(?:erforderlich|pflicht|notwendig|necesari|requerid|requis|obligat|obbligat|obrigat|vereist|verplicht|wymagan|vyzadovan|необходим|требует|kravs|kreves|gerekli|zorunlu|必要|必須|필요)',
    '(?:requiere|richiest[ao]|necesita|exige|vyzadovan\\w|требуется|需要).{0,20}(?:\\b(?:tls|ssl)\\b|cifrad|cifratura|chiffrement|шифрован|加密|tls)',
  ].join('|'),
)

/** Step 1: refusals because of our connection: TLS, reverse DNS, greylisting, our sender, our HELO. */
export const ABOUT_US: readonly ReplyRow[] = [
  usForNow(
    'temporary_failure',
    anyOf(
      /\bmail received as unauthenticated\b|\b(?:hosted tenant|office 365 region)\b/,
      /\bserver (?:has )?temporarily (?:rejected|refused)\b/,
    ),
    'Microsoft 365',
    '451 4.4.4 Mail received as unauthenticated, incoming to a recipient domain configured in a hosted tenant which has no mail-enabled subscriptions. ATTR5 [DB5EUR03FT010.eop-EUR03.prod.protection.outlook.com]',
  ),
  usForNow(
    // The server's own machinery failed (RFC 4954 §6); nobody authenticated here.
    'temporary_failure',
    anyOf(
      /\b(?:temporary|temporarily|transient)\b.{0,20}\bauthentication (?:failure|error)/,
      /\bauthentication (?:service|server|mechanism|backend)\b.{0,30}\b(?:temporar|unavailable|failed)/,
    ),
    'Exchange',
    '454 4.7.0 Temporary authentication failure',
  ),
  us('tls_required', TLS_REQUIRED, 'Postfix, Exchange, Exim', '530 5.7.0 Must issue a STARTTLS command first'),

  usForNow(
    'greylisted',
    anyOf(
      /\bfirst (?:contact|encounter|message|mail|e-?mail|connection|delivery)\b|\bdo(?: not|n't) know you yet\b/,
      /\btriplet\b|\bnot yet (?:authori[sz]ed|allowed|permitted)\b|\bis (?:still )?new (?:to us|here)\b/,
      /\bnot (?:yet known|known (?:here |to us )?yet)\b/,
      /\b(?:you are|your (?:server|host|address|ip) is) (?:(?:still|yet) )?(?:unknown|new|not (?:yet )?known) (?:to|for|here)\b/,
    ),
    'milters',
    '451 First contact, please come back later',
  ),
  us(
    'reverse_dns_required',
    anyOf(
      /\b(?:host|client|ip|server)\b.{0,60}\b(?:in|from) (?:the )?dns\b/,
      /\breverse (?:zone|dns|entry|pointer|lookups?|hostname|(?:host )?name|record|mapping|resolution|ip|address)\b/,
      /\breverse-?dns\b|\breverse.?resolv|\bhost ?name look-?up\b/,
      /\bip (?:address(?:es)? )?without (?:a |valid )?(?:host ?)?name|\bno (?:valid )?(?:dns|host) ?name\b/,
      /\bhost ?name\b.{0,60}\b(?:can ?not|can't|could not|couldn't) be (?:verified|validated|resolved|confirmed|found|determined)\b/,
      /\b(?:fc)?r-?dns\b|\bdns:nr\b|without a valid sender domain/,
      /\b(?:sender|client|your|remote|source|connecting) (?:ip|host)(?: address)? must (?:resolve|have (?:a )?(?:reverse|name))/,
    ),
    'AT&T, Sendmail',
    '550 5.7.1 Connections not accepted from servers without a valid sender domain. Fix reverse DNS for 192.0.2.1',
  ),
  us(
    'reverse_dns_required',
    anyOf(
      /\b(?:adresse|direccion|indirizzo|endereco|adres) (?:de l'|d[ue] |des |del |do |van de )?(?:client\w?|hote|host|rechners?|serv\w{2,5})\b/,
      /\b(?:client|host)-?adresse\b|клиентск\S{2,3} адрес|адрес клиента|客户端地址|客戶端位址|クライアント.?アドレス/,
    ),
    'hosts in other languages',
    '550 Adresse du client inconnue',
  ),
  us('reverse_dns_required', /\bptr\b/, 'Web.de', '550 <user@web.de>: Bad DNS PTR resource record'),
  us(
    'reverse_dns_required',
    anyOf(
      /\b(?:can ?not|can't|could not|unable to|failed to) (?:find|get|resolve|look ?up|determine) (?:an? |the |your |any )?(?:reverse )?(?:host ?name|name|ptr)\b/,
      /US-IP\]? has no (?:host ?)?name\b/,
      /\b(?:can ?not|can't|could not|unable to|failed to) (?:find|resolve|look ?up|identify) (?:the |your )?(?:address |host |ip )?\[?US-IP/,
      /ip name lookup failed/,
      /\b(?:ip|client|host|source|connecting) (?:ip )?(?:address|name|host)\b.{0,60}\b(?:not found|no name|unknown|not exist|unresolv|invalid)/,
      /unresolvable (?:client|host|ip)/,
      /(?:client|your) (?:host|ip|address).{0,40}(?:does not|doesn't|not|cannot be) resolve/,
      /\bhost ?name\b.{0,40}(?:does not|doesn't|not|cannot be) resolve/,
      /(?:US-)?IP\]? host (?:can't|can ?not|could not) be resolved/,
      /(?:US-)?IP\]?:? (?:is |was )?(?:unknown(?! (?:recipient|user|mailbox|address|account))|not (?:known|found)|(?:does not|doesn't|cannot be) (?:resolve|exist))/,
    ),
    'Postfix',
    '450 4.7.1 Client host rejected: cannot find your hostname, [192.0.2.1]',
  ),
  us(
    'reverse_dns_required',
    anyOf(
      /mismatches client ip|\bunknown (?:client|remote|connecting|sending) (?:host|name|address)\b/,
      /(?<!\b[he][eh]lo )(?:host ?name|dns|name).{0,30}(?:does not|doesn't|not) match.{0,20}\b(?:ip|client)\b/,
      /обратн\S{1,4} (?:зон|запис|dns|резолв)|逆引き|역방향|反向解析/,
      /(?:dns|ptr|resolution|resolucion|resolucao|risoluzione|zone?|zona) (?:inver[st]|reverso)\w{0,2}/,
      /\b(?:inverse?[rs]?|omgekeerde?|omvan[dt]|omvendt?|reverzn\w|odwrotn\w{1,3}|ters|forditott) (?:dns|zone?|zaznam|rekord|kayd)/,
      /\bruckwartsauflosung|зворотн\S{1,4} (?:зон|запис|dns)/,
    ),
    'QQ, Russian, Japanese, Chinese, Romance postmasters',
    '550 domain [example.com] mismatches client ip 192.0.2.225.',
  ),

  us(
    'greylisted',
    anyOf(
      /\bgr[ea]y-? ?list|\blistes? grises?\b|\blista(?:s|do)? gris(?:es)?\b|\bgraulist|\blista (?:grigia|cinza)\b/,
      /\bszar\S{1,3} list|сер\S{2,3} спис|грейлист|グレ[イー]リスト|灰名单|灰名單/,
      /\b(?:first|initial) (?:time|contact|attempt|delivery)\b.{0,60}(?:try|retry|again|later|defer)/,
      /you are being delayed/,
      /\b(?:you are|(?:host|sender|client) is) (?:new (?:here|to us)|a new (?:sender|host|client))\b/,
      /\b(?:not|never|n't) (?:yet )?seen\b.{0,60}\b(?:before|yet)\b/,
      /not (?:yet )?(?:on|in) (?:the |our )?whitelist.{0,40}again/,
      /(?:triplet|unknown sender\/recipient)\b.{0,40}(?:again|later|defer|yet)/,
    ),
    'postgrey, French, Spanish, German, Italian, Portuguese, Polish, Russian, Japanese, Chinese hosts, milters',
    '450 4.2.0 <user@example.org>: Recipient address rejected: Greylisted, see http://postgrey.schweikert.ch/help/example.org.html',
  ),
  usForNow(
    'greylisted',
    /\bpolic(?:y|ies) (?:rejection|restriction|reject)\b[\W_]{0,6}(?:please )?(?:try|retry|come back)\b.{0,20}$/,
    'postfix-policyd',
    '450 4.7.1 <user@example.org>: Recipient address rejected: Policy Rejection- Please try later.',
  ),
  us(
    'greylisted',
    anyOf(
      /^(?:4\d\d )?4\.7\.\d{1,3} <?>?:? ?(?:recipient address rejected: )?(?:please )?(?:try|retry) again later\.?$/,
      /^(?:4\d\d )?(?:\d\.\d\.\d )?temporary failure, please try again later\.?$/,
    ),
    'rspamd, OpenBSD spamd',
    '451 4.7.1 Try again later',
  ),

  us(
    'verification_in_progress',
    anyOf(
      /\b(?:verification|validation|verify|callout|look-?up|check)\b.{0,20}\b(?:in progress|pending|under ?way|still running)/,
      /being (?:verified|validated|checked)/,
    ),
    'Postfix, Proofpoint',
    '450 4.1.1 <user@example.com>: Recipient address rejected: unverified address: Address verification in progress',
  ),

  us(
    'helo_refused',
    /\b(?:helo|ehlo)(?:\b|host|name)|\bintroduc\w{1,3} (?:your|it)self\b|\bgreeting name\b/,
    'Postfix',
    '504 5.5.2 <localhost>: Helo command rejected: need fully-qualified hostname',
  ),
  us('helo_refused', /^(?:501 )?5\.0\.0 invalid domain name/, 'Sendmail', '501 5.0.0 Invalid domain name'),

  us(
    'policy',
    anyOf(
      /\b(?:cram|sasl)\b|\bclient certificate\b|\bcertificate of\b/,
      /\b(?:anmeldung|authentifizierung|authentification|autentica(?:cion|zione|cao)|aanmelding)\b/,
      /\b(?:bitte|please) (?:anmelden|einloggen|log ?in|authenticate)\b(?! your)/,
    ),
    'submission servers',
    '550 Anmeldung erforderlich',
    'login_required',
  ),
  us(
    'sender_refused',
    anyOf(
      /\byou do(?: not|n't) exist\b/,
      /\byou (?:have no|(?:do not|don't) have an?) (?:user |mail |e-?mail )?(?:account|mailbox|address)\b/,
      /\bno (?:mx|a|aaaa)\b.{0,30}\b(?:for|of|at) (?:your|the sender's|the sending|the sender) domain\b/,
      /\byou(?:'re| are) (?:an? )?(?:unknown|unregistered|not (?:an? )?(?:known|registered))\b/,
      /\b(?:user|client)s?: you\b/,
    ),
    'small hosts in free words',
    '550 You are an unknown user',
  ),
  us(
    'sender_refused',
    /\b5\.7\.50[1-3]\b|\bspam abuse detected\b/,
    'Microsoft 365',
    '550 5.7.501 Access denied, spam abuse detected from verify@probe.example. For more information please go to https://go.microsoft.com/fwlink/?LinkId=526653. AS(7501)',
  ),
  us(
    'sender_refused',
    /\b[45]\.7\.(?:20|21|22|23|24|26|27|509|515)\b|\brequired authentication level\b/,
    'RFC 7372 §3, Outlook.com',
    "550 5.7.515 Access denied, sending domain probe.example doesn't meet the required authentication level.",
    'unauthenticated',
  ),
  us(
    'sender_refused',
    anyOf(
      /\b(?:spf|dmarc|dkim|sender.?id|sender policy framework)\b.{0,60}(?:not (?:found|exist)|no such|unknown|fail|polic|pass|reject|denied|invalid|check|verif|validat|align|unauth|permerror|not (?:permit|allow|accept)|mismatch|missing|none|neutral)/,
      /(?:fail|invalid|missing|no valid|(?:reject|refus|block|den(?:y|i))\w{0,3} (?:due to|because of|by|for))\w{0,3}\b.{0,20}\b(?:spf|dmarc|dkim|sender policy framework)\b/,
      /\bnot (?:authori[sz]ed|permitted|allowed|designated)\b.{0,40}\b(?:spf|dkim|dmarc)\b|\bunauthenticated\b/,
      /\bauthenticated\W{1,3}(?:spf|dkim|dmarc)\b/,
      /authentication (?:checks? |results? )?(?:failed|failure|information)|\bspoof/,
    ),
    'Gmail',
    "550-5.7.26 Unauthenticated email from example.com is not accepted due to domain's DMARC policy.",
    'unauthenticated',
  ),
  us(
    'sender_refused',
    anyOf(
      /\bpermissions? to send as\b|\bsyntax error in (?:the )?(?:from|sender|return|mail from)\b/,
      /\bdomain name (?:is )?required\b/,
    ),
    'Exim',
    '501 syntax error in from address',
  ),
  us(
    'sender_refused',
    anyOf(
      /\bsend(?:er|ing)(?:'s|s)?\b(?! (?:ip|host|server|mta|network|to|from)\b)(?: e-?mail| mail| envelope)? ?(?:address|domain|addr)?\b.{0,40}\b(?:reject|refus|denied|block|black|invalid|unknown|not (?:allowed|accepted|permitted|exist|found|valid|authori[sz]ed|local|welcome|wanted|trusted)|does ?n[o']t|has no\b|lacks|cannot|could not|must|unresolv|undeliverable|unrout|resolve fail|left|gone|deleted|removed|over quota|full|suspended|disabled|forbidden|required)/,
      /\bfrom.?address\b.{0,40}\b(?:not|unknown|invalid|does ?n[o']t|reject|refus|denied)/,
    ),
    'Postfix',
    '550 5.1.8 <verify@probe.example>: Sender address rejected: Domain not found',
  ),
  us(
    'sender_refused',
    /\b(?:no such|invalid|illegal|bad|unknown|forged|fake|unverified|unrouteable|unauthori[sz]ed|unauthenticated|spoofed|suspicious|blocked|missing|null|empty|blank)\b (?:envelope |mail |email |return |from |message )?(?:sender(?!score|base| (?:ip|host|server|reputation)\b)|return.?path|reverse.?path|mail from(?! (?:your|this|the|\[?\d))|originator|from address)/,
    'Orange',
    '501 5.1.0 Emetteur invalide. Invalid Sender. OFR004_405 [405]',
  ),
  us(
    'sender_refused',
    anyOf(
      /\boriginator\b|\b(?:reply|bounce|return)(?:[ -]to)? address\b/,
      /\b(?:in|of|for) (?:your|the) (?:dkim )?signature\b|\byou claim to be\b/,
      /\b(?:sent|submitted|authenticated) (?:by|from|as) an? (?:\w{1,16} )?(?:user|account|mailbox)\b/,
      /\b(?:verify|verification|callout) of (?:the )?(?:mail from|envelope)\b/,
      /\b(?:client|remote|ident|auth|sasl|sending|login) (?:user|account)\b|\b(?:return|reverse).?path\b/,
      /\benvelope.?from\b/,
      /\bmail from\b(?! (?:your |this |the )?(?:\[|(?:US-)?IP|location|ip|hosts?|servers?|network|country|dynamic|residential|cloud|hosting|providers?)).{0,40}(?:reject|refus|denied|invalid|not |must|unknown)/,
      /\bin (?:the )?(?:mail from|sender|envelope)\b|\((?:envelope |the )?(?:sender|from|mail.?from|return.?path)\)/,
      /\breturn address|(?:domain|address) of (?:the )?sender\b|\bfrom-adresse|purported responsible/,
      /invalid dns (?:mx|a)\b/,
      /your (?:e-?mail |mail |sender |sending )?(?:address|domain)\b(?! \[?(?:US-)?IP).{0,40}\b(?:reject|refus|denied|invalid|unknown|does ?n[o']t|is ?n[o']t|has no\b|lacks|cannot|could not|black(?!.{0,3}list)|block(?!.{0,6}list))/,
    ),
    'Exim',
    '550 Return path is not valid',
  ),
  us(
    'sender_refused',
    anyOf(
      /\b(?:sender|your|from)(?:'s)? (?:e-?mail |mail |envelope )?(?:address|account|domain|mailbox)\b.{0,15}\b(?:no longer|inactive|expired|deactivated|dormant|unregistered)\b/,
      /\byour (?:e-?mail |mail |smtp |sending )?(?:account|access|service|domain) (?:is |was |has been )?(?:temporarily |permanently )?(?:suspended|disabled|locked|terminated|closed|blocked|restricted|revoked)\b/,
    ),
    'Zimbra',
    '550 5.1.8 the sender address is no longer in use',
  ),
  us(
    'sender_refused',
    anyOf(
      /\b(?:not|never|n't) (?:accept|receive|take|allow)(?:ing)? (?:any )?(?:e-?)?(?:mails?|messages?) from (?:(?:this|the|your) (?:sender|from|envelope)\b|you\b|US\b(?!-))/,
      /\bden(?:y|ies|ied) (?:the |your |this )?sender\b/,
      /\bsender (?:e-?mail |address )?is (?:unvalidated|not (?:in|validated|verified)\b)/,
    ),
    'hosts in Ukraine, eYou',
    '550 5.2.1 Mailbox unavailable. This server does not accept mails from this sender address',
  ),
  us(
    'sender_refused',
    anyOf(
      /\bvalid mx for (?:the )?sender|\bbad ?mail ?from\b/,
      /\bsender\b.{0,30}\b(?:in|on) (?:my|our|the|a) (?:\S{1,20} )?list\b/,
      /\bmx (?:record )?(?:of|for) (?:the |your )?send|\bsender not auth?|\bsender\b.{0,20}\bviolat/,
      /\bbounce (?:message|mail)?s? ?(?:are |is )?(?:not|reject|refus)/,
      /\b(?:no|not accept\S{0,3}|reject\S{0,3}) bounces\b|\bnull (?:sender|return|reverse)|does not send mail/,
      /never sends? (?:mail|bounces)/,
    ),
    'qmail with chkuser, batv milters',
    "553 5.1.8 sorry, can't find a valid MX for sender domain (#5.1.8 - chkuser)",
  ),
  us('sender_refused', /\b[45]\.1\.[78]\b/, 'RFC 3463 §3.2', '550 5.1.7 No such domain probe.example.'),
  us(
    'sender_refused',
    anyOf(
      /\b(?:expediteur|emetteur|absender(?!-ip)|remitente|mittente|remetente|nadawc|afzender|odesilatel|gonderen|gonderici|avsand|afsend|avsend|lahettaj|felado|expeditor)\S{0,14}/,
      /\bposiljatel\S{0,4}|\bposiljaoc\S{0,3}|\bodosielatel\S{0,4}|\bremitent\b|\bigorle\b|\bbidaltzaile\S{0,3}/,
      /\bsutitaj\S{0,3}|\bsiuntej\S{0,3}|\bsaatja\b|\bsendand[ai]\S{0,2}|\bdergues\S{0,3}|\bgond[eə]r[eə]n/,
      /\byuboruvchi|\bmtumaji|\bnagpadala|\bseoltoir|\bsendende[rnms]? (?:benutzer|nutzer|adresse|konto)/,
      /\b(?:adresse|direccion|indirizzo|endereco|adreca) d[ei] (?:retour|retorno|ritorno|retorn)|\bruckadresse/,
      /жіберуші|испраќач|изпращач|подател|пошиљалац|გამგზავნ|გამომგზავნ|ուղարկող|प्रेषक|প্রেরক|அனுப்பு|отправител/,
      /відправник|αποστολ[εέ]|השולח|المرسل|\bnguoi gui\b|\b(?:pengirim|penghantar)\b|\bposiljal[ae]c\w?/,
      /\badresse d'(?:expedition|envoi)|адрес\S{0,2} отправк|فرستنده|발송|보내는 사람|ผู้ส่ง|差出人|送信者|送信元|発信[者元]|보낸 ?사람|발신/,
      /发件人|[寄發发][信件][人者]|[发發]送[者方]|e-?mail address is not verified|identit\S{1,4} failed the check/,
    ),
    'French, German, Spanish, Italian, Portuguese, Polish, Dutch, Czech, Russian, Japanese, Chinese hosts, Amazon SES',
    '550 Adresse d expediteur invalide',
  ),
]
