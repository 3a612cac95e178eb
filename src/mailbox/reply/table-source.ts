import { type ReplyRow, rows } from './row.ts'

const any = rows('any', 'any')
const recipient = rows('recipient', 'any')
const forGood = rows('recipient', '5xx')
const forNow = rows('any', '4xx')

/**
 * Step 5: refusals of our address, its reputation, our rate, or the content; and texts that report a fault of the
 * server.
 */
export const ABOUT_SOURCE: readonly ReplyRow[] = [
  recipient(
    'temporary_failure',
    /\bunverified address\b|name service error\b.{0,80}\b(?:malformed|try again|server failure)|no route to host|no relevant answers/,
    'Postfix',
    '450 4.1.1 <user@example.org>: Recipient address rejected: unverified address: connect to mx.example.org[192.0.2.1]:25: No route to host',
  ),
  recipient(
    // The mail host of the sender could not connect.
    'temporary_failure',
    /(?:\bconnect to |\b[45]\.4\.\d{1,3} ).{0,120}(?:connection (?:refused|timed out|reset)|operation timed out|network is unreachable|host is down)/,
    'Postfix',
    '451 4.4.1 connect to mx.example.org[192.0.2.1]:25: Connection refused',
  ),
  any(
    // Postfix puts "Client host rejected" before any text of an access table: the actual reason follows it.
    'temporary_failure',
    /\bclient host rejected: (?:the |this )?(?:(?:service|server|system|host) (?:is )?)?(?:(?:currently|temporarily|too|very) ){0,2}(?:busy|overloaded|shutting down|under maintenance)\b/,
    'Postfix access table',
    '421 4.3.2 <mail.probe.example[192.0.2.1]>: Client host rejected: Service busy',
  ),
  forGood(
    // Before the words of a host that is not permitted.
    'relay_denied',
    /\bnot (?:permitted|allowed|authori[sz]ed) to relay\b|\b(?:not|no) an? (?:open )?relay\b|DOMAIN is not (?:in|on|among) (?:our|my|the) (?:list|domains)\b|\bnot (?:permitted|allowed|authori[sz]ed) to (?:accept|receive|handle) (?:any )?(?:e-?mails?|mail|messages) for\b|\bpop[- ]before[- ]smtp\b|\breceive your mail before sending\b|\bonly (?:allowed|permitted) (?:with|after) auth\w+|\brelay\w{0,3} (?:\w{1,12} ){0,3}(?:needs|requires)\b|\b(?:relay\w{0,4}|doorstur\w{1,3}|przekaz\w{2,6}|preposilan\w)\b.{0,20}\b(?:(?:no|nao|non) (?:e |se |esta )?(?:permit|permess|autoriz|admit|consent)|niet|nie|neni|ej|inte|ikke|interdit|zabron|yok\b)|рел[еэ]\S{1,3} .{0,20}(?:запрещ|не )|릴레이.{0,12}(?:않|거부|금지)|\bnot set up to receive\b|\bnot configured for (?:(?:that|this) domain|DOMAIN)|(?:不允许|不允許|禁止|拒绝|拒絕)中[继繼]|中[继繼継].{0,8}(?:拒绝|拒絕|拒否|禁止|許可されて|できません)|\brelais\b.{0,20}\b(?:interdit|refus|non autoris|nicht|verboten)|\bweiterleitung\b.{0,20}\b(?:nicht|verweigert|verboten)|\b(?:reenvio|retransmis\w{2,4}|inoltro|encaminhamento)\b.{0,20}\b(?:no |nao |non |denegad|negad|negat|proibid|prohibid|vietat)|\b(?:no (?:se|esta) (?:permit|admit|autoriz)\w{1,4}|non (?:e )?(?:permess|consentit|ammess)\w|nao (?:e |se )?permit\w{1,4}|kein\w?|pas de)\b.{0,20}\b(?:reenvio|retransmis|inoltro|encaminhamento|weiterleitung|relais|relay)|(?:ретрансляц|пересылк)\S{0,3}.{0,20}(?:запрещ|не разреш)|\bmay (?:not )?relay\b|\bopen relay\w{0,3} (?:is )?not (?:allowed|permitted)|\bauthenticat\w{1,5}\b.{0,60}\b(?:non-?local|remote|external|foreign)\b|\b(?:non-?local|not (?:a )?local)\b.{0,60}\bauthenticat|(?<!open )\brelay(?:ing|ed|s)?\b.{0,40}\b(?:denied|not (?:permitted|allowed|authori[sz]ed|possible|accepted)|prohibited|disallowed|forbidden|refused|disabled|rejected|restricted|blocked|violat)|\b(?:polic(?:y|ies)|prohibit\w{0,4}|refus\w{0,3}|den(?:y|ies)|reject\w{0,3}|disallow\w{0,3}|permitted|allowed|authentication (?:is )?(?:required|needed|necessary)|(?:requires?|needs?) auth\w{1,12}|not authenticated)\b.{0,30}\b(?:for|to|through|before) relay|\b(?:polic|prohibit|refus|den(?:y|ies)|reject|disallow)\w{0,4}\b(?:(?!unknown).){0,30}\brelay/,
    'Domino',
    '554 Relay rejected for policy reasons.',
  ),
  any(
    'source_blocked',
    /\breputation\b|\bkarma\b|\bscore of \[?(?:US-)?IP\b|\bip (?:is )?not (?:yet )?trusted\b|\baccess for \[?(?:US-)?IP\b|\b(?:sending|coming) from an? (?:range|net|network|address)\b|\bsender score\b|\bspammer \[?(?:US-)?IP\b|US-IP.{0,40}\b(?:spammer|spamming|spam source|source of spam)\b|\b(?:mail|connections?) from as ?\d{1,10}\b|\bUS-IP\]? (?:is |was )?not (?:allowed|permitted|authori[sz]ed|welcome)\b|\bip suspected\b|refused to talk to me|\btoo (?:many|much) spams?\b|\bspams? (?:\w{1,12} ){0,2}from (?:your|this|the) (?:ip|host|server|network|address|mta)|\bunusual (?:sending |traffic |mail |outgoing |email )?(?:activity|pattern|behaviou?r)|\bsuspicious (?:sending |traffic )?activity/,
    'Microsoft 365, Free, Zoho',
    '451 4.7.650 The mail server [192.0.2.25] has been temporarily rate limited due to IP reputation. For e-mail delivery information, see https://postmaster.live.com (S3113)',
  ),
  any(
    'rate_limited',
    /\bover-?limit\b|\b(?:reached|hit|exceeded) (?:the|its|a) (?:\w{1,12} ){0,2}(?:limit|number|maximum) of (?:messages|e-?mails|mails|connections|recipients|requests)\b|\b(?:hourly|daily|weekly) (?:\w{1,12} ){0,3}(?:limit|(?:number|amount|volume) of)|\bmore (?:messages|e-?mails|mails?|connections|recipients|requests) than (?:is |are )?(?:permitted|allowed)\b|\blimit of \d+ (?:connections|sessions|messages|mails|e-?mails|recipients|requests)\b|\byou (?:have |'ve )?(?:reached|exceeded|hit) (?:the|your|our)\b.{0,30}\b(?:limit|maximum|number|allowance)\b|\b\d+ (?:requests?|messages?|mails?|e-?mails?|recipients?|connections?) ?(?:\/|per|an?) ?(?:second|minute|hour|day)\b|\bsende?rate\b|\bmax defers\b|\b(?:sent|sending|sends) (?:\d+|too many|more) (?:messages|mails|e-?mails)\b|\b(?:max\w{0,4}|limit|number)\b.{0,30}\b(?:connections?|sessions?)\b.{0,40}\bexceed|\b(?:max(?:imum)?|limit\w{0,2}|more than|at most|exceed\w{0,3})\b.{0,40}\b(?:requests?|messages?|mails?|e-?mails?|recipients?|rcpts?|connections?|deliver(?:y|ies)|attempts?|sessions?|commands?)\b.{0,15}(?:\b(?:per|every|an?|in (?:one|the last))|\/) ?(?:second|sec|minute|min|hour|day|session)\b/,
    'postfwd',
    '450 4.7.1 <user@example.org>: Recipient address rejected: sorry, max 10 requests per minute exceeded (rate)',
  ),
  any(
    'rate_limited',
    /\bconcurrency limit\b|\b(?:high|large|excessive|unusual|great) (?:number|amount|volume|rate) of (?:\w{1,12} )?(?:connections?|requests?|messages?|e-?mails?|mails?|recipients?|errors|attempts)\b|\bburst (?:limit|rate)\b|\b(?:hourly|daily|weekly)\b.{0,30}\b(?:cap|allowance)\b|\bsending (?:allowance|limit)\b|\brate.?limit|\brate\b.{0,30}\b(?:exceeded|too high|limited)|\bfrequency limit|\bthrottl|too many (?:concurrent |simultaneous |open |recent )?(?:smtp |inbound |tcp )?(?:connections?|sessions?|messages?|mails?|e-?mails|requests?|attempts|commands)\b|(?:max|maximum|limit)\b.{0,30}\b(?:connections?|messages?|mails) per|(?:connection|message) (?:rate |count )?limit|sent to too many|unusual rate|max message|\btoo many (?:\w{1,12} ){0,2}(?:recipients|users|mailboxes|addresses) (?:that |which )?(?:do(?: not|n't) exist|are (?:unknown|invalid))|to(?:o)? (?:much(?! load)|fast|quick(?:ly)?|frequent|often)|slow down|excessive (?:volume|connections|rate)|\byou (?:are sending|have sent|sent|send) too (?:many|much)\b|\bmessage rate\b|\b(?:sending|mail|connection) rate\b.{0,30}\b(?:above|over|beyond|limit)/,
    'Gmail',
    '421 4.7.28 [192.0.2.1] Our system has detected an unusual rate of unsolicited mail originating from your IP address. To protect our users from spam, mail sent from your IP address has been temporarily rate limited. - gsmtp',
  ),
  any(
    'rate_limited',
    /\b(?:(?:unknown|invalid|failed|bad) (?:recipients?|rcpts?|users?)|user unknown) (?:count|rate|(?:count |rate )?limit)\b|\bnumber of (?:failed|invalid|unknown|bad|non-?existent|wrong|rejected) (?:recipients?|rcpts?|users?|addresses)\b|too many (?:(?:protocol |syntax |command |smtp )?errors|unknown|invalid|bad|failed|non-?existent|wrong)|(?:limite?s?|maximum|лимит\S{0,2}|превыш\S{2,5}|przekroczon\S{1,3}).{0,24}(?:conexiones|conexoes|connexions|connessioni|verbindungen|verbindingen|polacze|połącze|соединени|подключени|envios|envois|invii|mensajes|mensagens|messaggi|nachrichten|berichten|wiadomosc|сообщени|писем)|(?:conexiones|conexoes|connexions|connessioni|verbindungen|verbindingen|соединени|подключени|接続|连接|連線|접속|연결).{0,24}(?:limit\S{0,4}|exced|super|uberschritten|depass|превыш|上限|超|초과|제한)|\btrop (?:vite|souvent)|\bzu (?:schnell|haufig|oft)\b|\bdemasiado (?:rapido|a menudo)|\btroppo (?:velocemente|spesso|in fretta)|\bte (?:snel|vaak)\b|\bzbyt (?:szybko|czesto)|слишком (?:часто|быстро)|(?:发送|發送|连接).{0,6}(?:太快|太频繁|过快)|(?:送信|接続).{0,8}(?:多すぎ|速すぎ|頻繁)|너무 (?:빨리|자주)|zu viele|trop de (?:connexions|messages|connections|destinataires)|demasiad\S{2} (?:conexiones|mensajes|destinatarios)|tropp[ie]|demais|muit[oa]s|слишком много|за много|zbyt wiele|prilis mnoho|cok fazla|\bfor mang[ae]\b|liian mon|\btul sok\b|\bprea mult|너무 많은|(?:limite?|лимит) (?:de |d'|di |na )?(?:envi|envoi|invio|wysy[lł]k|отправ)|te veel|\brate control\b|(?:发送|发信|连接).{0,8}(?:频率|过于频繁|超过限制)|频率.{0,6}限制/,
    'iCloud, Exchange Online',
    '421 4.7.0 me.com Error: too many errors',
  ),
  any('rate_limited', /\bhl:i[cf]c\b|\bmi:(?:cel|dmc|ccl|sfq|stc)\b|\brp:[a-z]{3}\b/, 'NetEase', '450 RP:DRC'),
  any(
    'too_many_recipients',
    /\b(?:rcpts?|recipients?) (?:numbers?|count)\b|\bnumbers? of (?:rcpts?|recipients)\b|too many (?:recipients|rcpt|addressees|users)|\b(?:recipients?|rcpts?)\b.{0,20}\blimit|(?:max|maximum|limit)\b.{0,25}\b(?:recipients|rcpts)|one (?:recipient|rcpt) (?:at a time|per)|multiple recipients|\b[45]\.5\.3\b/,
    'eYou, Postfix',
    '451 out of allow RCPT numbers',
  ),

  any(
    'policy',
    /\b(?:url|uri|link|hyperlink)s? (?:in|of) (?:this |the |your )?(?:e-?mail|mail|message|body)\b.{0,80}\b(?:listed|block|black|dbl)|\b(?:link|url|uri|domain in (?:the )?(?:message )?body)s?\b.{0,40}\blisted (?:in|by|on|at)\b|\b(?:black-?listed|blocked|listed) (?:url|uri|link)s?\b|\binfected\b/,
    'KumoMTA, rspamd, amavis',
    '550 5.7.1 URL in this email is listed on dbl.spamhaus.org',
    'message_content',
  ),
  any(
    'source_blocked',
    /\bmessages from \[?(?:US-)?IP\]? (?:weren't|were not|was not|could not be) (?:sent|accepted|delivered)|\bDNSBL\b|spamhaus|spamcop|\bsorbs\b|uceprotect|invaluement|abusix|mailspike|senderscore|senderbase|spamrats|\bpsbl\b|\bs5h\b|blocked ?using|cloudmark|proofpoint dynamic|\bipbl\d|\baup#|tosa\b/,
    'Postfix with a list',
    '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org; https://www.spamhaus.org/query/ip/192.0.2.1',
  ),
  any(
    'policy',
    /\bbanned (?:names?|contents?|files?)\b|\bbanned: ?\.?\w/,
    'amavis',
    '554 5.7.0 Reject, id=00001-01 - BANNED: .exe,tool.exe',
    'message_content',
  ),
  any(
    'policy',
    /\b(?:transport|mail ?flow) rules?\b|\bby (?:a |the )?(?:\w{1,12} )?rules?\b/,
    'Exchange',
    '550 5.7.1 Your message was rejected by a rule of the organization',
  ),
  any(
    'source_blocked',
    /\b(?:rbl|dnsbl|rhsbl|uribl|drbl)s?\b|(?:^|\bIP\b.{0,12}\b)listed (?:in|at|on|by)\b|\b[sx]bl listing|\b(?:in|on|by|at) (?:the )?(?:cbl|xbl|sbl|pbl|css|zen|nix ?spam|apews)\b|black ?-?list|block ?-?list|block listed|\bschwarze\w? liste|\blistas? negras?\b|\bliste noire|\blist[ae] ner[ae]\b|\blista preta|\bczarn\w{1,3} li[sś]|ч[её]рн\S{2,3} спис|\bkara liste|deny ?-?list|black ?-?hole|ban ?list|\bbanned\b|\b[io]n (?:our|a|the|my|their) (?:\w{1,12} ){0,2}(?:block|black|deny|spam|drop|reject|refusal|abuse|exclusion|ban|ignore)(?:ed|ing)?[ -]?(?:lists?|table|database)\b|\bon (?:our|a|the) (?:local )?(?:block|black|deny|spam|drop|reject)/,
    'Web.de',
    '550 <user@web.de>: IP address is block listed',
  ),
  any(
    // The name of the host that passes the reply on is not the subject.
    'policy',
    /\bmessage (?:was |is |has been )?(?:detected|identified|classified|flagged|marked|rejected) as (?:\w{1,12} )?spam\b(?!.{0,60}\b(?:reputation|blocked|listed)\b)/,
    'Microsoft 365',
    '550 5.7.350 Remote server returned message detected as spam -> 554 5.7.1 Message rejected as spam',
    'message_content',
  ),
  any(
    'source_blocked',
    /\b(?:client|source|sending|remote|your|connecting|originating)\b (?:\S{1,30} )?(?:ip|host|server|network|mta|address|client)\b.{0,60}\b(?:block|denied|refus|reject|not (?:allowed|accepted|permitted|welcome)|forbidden|prohibited|listed|poor|bad)|\b(?:from|this|mail) (?:ip|host|server|network|client)\b.{0,60}\b(?:block|denied|refus|reject|not (?:allowed|accepted|permitted|welcome)|forbidden|prohibited|listed|poor|bad)/,
    'Postfix',
    '554 5.7.1 <mail.probe.example[192.0.2.1]>: Client host rejected: Access denied',
  ),
  any(
    'source_blocked',
    /\b(?:from|by) (?:your |the |this )?(?:ip |host |server |address |network |client ){0,2}\[?(?:US-)?IP\]?.{0,60}\b(?:block|reject|refus|denied|banned|not (?:accepted|allowed|permitted|welcome)|suspended)|\b(?:block|reject|refus|denied|ban)\w{0,4}\b.{0,30}\bfrom \[?(?:US-)?IP|(?:^|[\s[(])(?:US-)?IP[\])]{0,2} (?:is |was |has been )?(?:currently |temporarily |permanently ){0,2}(?:block|reject|refus|banned|denied)/,
    'Verizon',
    "571 Email from 192.0.2.1 is currently blocked by Verizon Online's anti-spam system. The email sender or Email Service Provider may visit http://www.verizon.net/whitelist",
  ),
  any(
    'source_blocked',
    /\bip\b.{0,50}\b(?:block|denied|refus|reject|not (?:allowed|accepted|permitted)|forbidden|listed|blokir)|\b(?:blocked?|denied|refused?|reject\w{0,3}|invalid|bad|listed)\b.{0,20}\bip\b|connections? (?:will )?(?:not (?:be )?accepted|refused|rejected|denied)|(?:host|network|server|client)\b.{0,25}\b(?:not allowed|not permitted|forbidden|blocked|rejected|refused)|access (?:from|to)\b.{0,40}\b(?:blocked|denied|refused|rejected|not (?:granted|allowed|permitted))|server access\b.{0,40}\bforbidden|not allowed to (?:send|connect|talk)|may not be mail exchanger/,
    'Yahoo',
    '553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.1, because the ip is in a list; see http://postmaster.yahoo.com/550-bl23.html',
  ),
  any(
    'source_blocked',
    /\b[45]\.7\.(?:60[6-9]|6[1-4]\d|650|651|70[58])\b|\[tss?\d\d\]|user complaints|not (?:in|on) (?:the |our |a )?(?:white ?-?list|allow ?-?list)|ask your postmaster for help|dynamic(?:ally)? (?:ip|address|assigned)|dial-?up|residential|\bbad (?:host|client)\b/,
    'T-Online',
    '554 IP=192.0.2.254 - A problem occurred. (Ask your postmaster for help or to contact tosa@rx.t-online.de to clarify.) (BL)',
  ),
  any(
    'source_blocked',
    /service refuse|\b(?:adresse|direccion|indirizzo|endereco|adres) ip\b|\bip.?(?:адрес|地址|アドレス|adresse|주소)|\bip (?:address )?(?:is )?(?:not (?:found|known)|unknown)|\baddress \[?(?:US-)?IP|\blpn00[1-6]_\d{3}|\bofr00[56]_\d{3}|(?:ip|адрес).{0,20}(?:в ч[её]рн|занес[её]н|внес[её]н)|(?:拒绝|拒絕|封禁).{0,6}\bIP\b|(?:拒绝|拒絕).{0,6}ip|ip.{0,12}(?:被拒绝|被封|黑名单|被列入|拒否)|黑名单|ブラックリスト/,
    'La Poste, SFR, Orange',
    '550 5.5.0 Service refuse. Veuillez essayer plus tard. service refused, please try later. LPN001_108',
  ),

  any(
    'source_blocked',
    /\b(?:black|bad|banned) ip\b|\bip (?:is )?(?:black|hang ?up|banned)\b|\bsmtpport check\b|\brtr:(?:b[bl]|du|sc)\b|\b(?:con:b|dyn:t)\d\b|\bhl:(?:rep|mep)\b|\bdt:rbl\b|\bwm:bli\b|\bdeny_?ip\b/,
    'eYou, AOL, NetEase',
    '550 black ip',
  ),
  any(
    'source_blocked',
    /(?<!not an? )\bopen (?:mail |smtp )?(?:relay|proxy)\b|\byour (?:host|server|ip|mta|network|mail ?server)\b.{0,20}\b(?:not (?:registered|known|recogni[sz]ed|trusted)|unknown)\b|\b(?:su|sua|seu|tu|tua|tuo|suo) (?:direccion |endereco |indirizzo )?ip\b.{0,20}\b(?:bloquead|rechazad|rejeitad|listad|bloccat|respint)|\bip\b.{0,24}(?:заблокирован|запрещен|запрещён|заблокован|отклон[её]н)|\bip adres\S{0,6} (?:engellen|yasak|kara liste)|\bip-?a?dress?e?\w{0,2} (?:ar|er) (?:blockera|blokkert|blokeret|sperret)|\bip-adres is geblokkeerd|عنوان ip.{0,20}محظور|(?:כתובת ה-?ip|ה-?ip).{0,20}חסומ|\bip.{0,16}(?:차단|거부)/,
    'hosts in Spanish, Portuguese, Italian, Russian, Turkish, Nordic languages, and others',
    '554 Ваш IP заблокирован',
  ),
  any(
    'source_blocked',
    /\byour access to (?:submit|this|our)\b.{0,60}\b(?:reject|denied|block)|\b(?:mail|access|connections?) from your (?:location|country|region|network|provider)\b|\b(?:not|n't|never) (?:accept|allow|permit)(?:t?ing|ed)? (?:any )?(?:connections?|mail|traffic) from (?:\[?US-IP|(?:your|this) (?:ip|host|server|network|address)\b)|\bno (?:e-?mails?|mail|messages|connections?) (?:is |are )?(?:accepted|taken|allowed|permitted) from (?:your|this|that) |\bno access (?:for|from) (?:this|your) (?:ip|host|server|address|network)\b|\byou are (?:not welcome|a stranger|unknown)\b|\b(?:subnet|net ?block|(?:ip |address |isp's )range|isp|provider|as ?\d{1,7}|tor (?:exit )?nodes?)\b.{0,40}\b(?:block|refus|reject|denied|not (?:accepted|allowed|permitted)|may not)|\b(?:country|region)\b.{0,40}\b(?:not (?:accepted|allowed|permitted|welcome)|block|refus|reject|denied|bann)|\b(?:mail|access|connections?) from (?:\w{1,12} ){0,2}(?:cloud|hosting|hosters?|data ?cent(?:er|re)s?|vps)\b|US-IP\]? is in a (?:country|region|network)\b|\bnot (?:yet )?(?:allowed|authori[sz]ed|permitted) (?:access\b|to (?:deliver|submit) (?:mail|messages))/,
    'Cisco Secure Email',
    '550 #5.7.1 Your access to submit messages to this e-mail system has been rejected.',
  ),

  forGood('policy', /\bdt:spm\b/, 'NetEase', '554 DT:SPM 163 smtp10', 'message_content'),
  recipient(
    'policy',
    /recipient address rejected: (?:access denied|ers-|block-|envelope|spam|policy(?! (?:daemon|server|service)\b)|delivery not)(?<!5\.4\.1 \[?\]?:? ?recipient address rejected: access denied)|permanent failure for one or more recipients.{0,20}: ?blocked|mailbox unavailable or access denied|mail is rejected by recipients|rejected by (?:the )?recipient|(?:blocked|refused) by (?:the |this )?recipient\b|recipient (?:has )?(?:blocked|refused|rejects)/,
    'Postfix access map, Trend Micro, Barracuda',
    '554 5.7.1 <user@example.com>: Recipient address rejected: Access denied',
  ),
  forNow(
    'temporary_failure',
    /\b(?:filter|scanner|virus scan\w{0,4}|spam check\w{0,3})\b.{0,40}\b(?:fail\w{0,3}|error|unavailable|not available|timed? ?out)\b|\bpolicy (?:daemon|server|service)\b|\bpolic(?:y|ies)\b.{0,80}\b(?:try|retry|come back|resend|again|later)\b|\b(?:try|retry|again|later)\b.{0,40}\bpolic(?:y|ies)\b/,
    'milters',
    '451 4.7.1 Local policy, please try again later',
  ),
  any(
    'policy',
    /\bpolic(?:y|ies)\b|\b(?:directory|dictionary) (?:harvest|attack)|\bharvesting\b|\bbackscatter|\bprobing\b|administrative(?:ly)? prohibit|prohibited|mailpolicy|\bmspam|envelope blocked|\bsynchroni[sz]ation error\b|\btalk(?:ed|ing)? (?:too (?:soon|early)|before)|\bearly ?talk|\bpre-?greet/,
    'Mimecast, Exim, Haraka',
    '550 Administrative prohibition - envelope blocked - https://community.mimecast.com/docs/DOC-1369#550',
  ),
  any(
    'policy',
    /\b(?:spams?|ube|uce|junk|phish\w{0,4}|virus\w{0,2}|malware|spammer|spammy|unsolicited|suspicious|suspected)\b|mcspam|anty?spam|\b(?:e-?mail|content|attachment|attachment blocking|virus|mail|mail system) filters?\b|\buser[- ]configured filter/,
    'Free, Novell GroupWise, MailMarshal',
    '550 spam detected',
    'message_content',
  ),
  any(
    'policy',
    /\bcontents?\b|\bmessage (?:was |is |has been |not |could not be )?(?:reject|refus|denied|block|filtered|allowed|accepted|discarded)|(?<!\breceived )\bheaders?\b|rfc ?-?(?:2822|5322|822)|\battachment|\bmedia error|rejected message|\bmail re?jete|mail rejected|\b(?:not|n't) (?:accept|take|allow) (?:the )?(?:delivery of )?(?:this|the|your|that) (?:message|e-?mail|mail)\b/,
    'Symantec Email Security.cloud',
    '553 Message filtered. Refer to the Troubleshooting page at http://www.symanteccloud.com/troubleshooting for more information. (#5.7.1)',
    'message_content',
  ),
  any(
    'policy',
    /\b(?:message|mail|e-?mail)\b.{0,20}\b(?:(?<!\b(?:delayed|waiting|queued|pending|waited|undelivered|took) )too (?:large|big|long)|size|length)\b|size limit|\bsize exceeds|recipsizelimit/,
    'Postfix',
    '552 5.3.4 Message size exceeds fixed limit',
    'message_size',
  ),
  any(
    'policy',
    /\bauth(?:entication|orization)?\b.{0,30}\b(?:required|needed|in your mail client)|turn on smtp auth|\bnot authenticated\b/,
    'Exchange',
    '530 5.7.57 Client not authenticated to send mail. Authentication required',
    'login_required',
  ),
  any(
    'policy',
    /delivery not authori[sz]ed|not authori[sz]ed|authentication failure/,
    'hosts of several systems',
    '550 5.7.1 Delivery not authorized',
  ),
  any(
    'source_blocked',
    /^(?:5\d\d )?(?:5\.7\.\d{1,3} )?<?>?(?:\.\.\.|:)? ?access denied/,
    'Sendmail access map',
    '550 5.7.1 Access denied',
  ),

  any(
    'temporary_failure',
    /\btemporar(?:y|ily)\b|\bproblems? (?:on|at) our (?:side|end)\b|internal (?:system |server |software )?(?:error|resource)|\bsystem (?:config|error|resources)|insufficient (?:system|resources|memory)|\b(?:timed out|time-?out)\b|\b(?:could not|couldn't|cannot|can't|unable to|failed to) (?:reach|connect to|contact|query|access)\b.{0,30}\b(?:server|database|ldap|directory|backend|service)\b|(?:message|delivery(?: time)?) (?:has )?expired|\b(?:routing|directory|name|dns|database) (?:server )?(?:failure|trouble|timeout)\b|queue\.expired|look-?up (?:failure|failed|error)|\bserver (?:is )?(?:too |very |currently )?(?:busy|error|overload)|try(?: again| it again)? later|service (?:is )?(?:currently )?(?:unavailable|not available)\b(?!;? ?client)|mail loop|loop detected|\bforwarding loop|hop count|too many (?:hops|received)|plus tard|spater (?:erneut|noch|wieder)|mas tarde|piu tardi|mais tarde|позже|しばらく|稍后/,
    'Dovecot, Exchange',
    '451 4.3.0 Internal system error',
  ),
  any(
    'temporary_failure',
    /\bconfig(?:uration)? error|\b(?:server|host|system) is (?:currently |temporarily )?(?:down|unreachable|offline)\b/,
    'Sendmail',
    '451 4.3.5 Local configuration error',
  ),
  forGood(
    'smtputf8_required',
    /\bsmtputf8\b|\b5\.6\.(?:7|10)\b|non-?ascii (?:address|local|mailbox|recipient|user)|internationali[sz]ed (?:e-?mail |mail )?address/,
    'RFC 6531 §3.5',
    '553 5.6.7 SMTPUTF8 is required for this address',
  ),
]
