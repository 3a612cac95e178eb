import { anyOf, BOX, type ReplyRow, rows } from './row.ts'
import { NOT_FOUND_IN_ENGLISH } from './table-languages.ts'

const gone = rows('recipient', '5xx')
/**
 * Steps 6 and 7: no such mailbox, no such domain, no mail accepted here, and relaying denied. Only texts that name
 * their subject count.
 */
export const NOT_FOUND: readonly ReplyRow[] = [
  gone(
    'null_mx',
    /\bnull ?mx\b|\bmx 0 ["']?\.(?!\d)|\bdoes(?: not|n't) (?:receive|accept) (?:any )?e?-?mail according|\b556\b/,
    'Gmail',
    "556 5.1.10 The domain example.org doesn't receive email according to the administrator: returned Null MX https://www.rfc-editor.org/info/rfc7505",
  ),
  gone(
    'no_mail_host',
    /\b(?:host|server|machine|domain|system|site|DOMAIN)\b.{0,20}\b(?:does not|doesn't|will not|never|do not) (?:accept|receive)s? (?:any )?e?-?mails?\b(?! from)/,
    'RFC 7504 §2',
    '550 Host does not accept mail',
  ),
  gone(
    'domain_not_found',
    anyOf(
      /\bdomain name not found|\bhost or domain\b.{0,10}\bnot found|\bno such (?:host|domain|system)\b/,
      /\bno mail (?:hosts?|servers?|exchangers?) for\b|\bno mx (?:record )?for DOMAIN/,
      /\b(?:find|locate) (?:any host\b|an? (?:mail exchanger|mx)\b)|\bdomain (?:is )?not (?:in use|used)\b/,
      /\b(?:unknown|invalid|bad|non-?exist[ae]nt) (?:(?:recipient |destination |mail |e-?mail )?domain|(?:recipient|destination) (?:host|system))\b/,
      /bad destination system|unroutable (?:mail )?domain|unrouteable (?:mail )?domain/,
      /no route found to (?:the )?(?:domain|host)/,
      /\bdomain\b.{0,30}\b(?:does not exist|doesn't exist|not found|is unknown|unknown (?:to|here)|not reachable|is invalid|non-?existent)/,
      /domain owner has changed|\bdomain\b.{0,30}\bhas (?:expired|lapsed)\b/,
      /\bmx records? points? to (?:non-?existent|local)|\brecord indicated no\b|\bno match\w{0,2} to nameserver/,
      /\bhost (?:address )?look-?ups? failed permanently|\brecipient domain must exist/,
    ),
    'GMX',
    '554 The mail could not be delivered to the recipient because the domain is not reachable. Please check the domain and try again',
  ),

  gone(
    'mailbox_not_found',
    new RegExp(
      `\\b(?:no such(?: an?)?|unkn?ow?n|unregistered|unrecogni[sz]ed|(?:non-?exist[ae]nt|inexistent)|undefined|unavailable|invalid|illegal|bad|incorrect|wrong|unroute?able|undeliverable|malformed|misspelled) (?:(?:or (?:illegal|invalid|unknown|inactive)|final|local|valid|e-?mail|mail|smtp|recipient|mailbox|virtual|user|to|destination|forwarding) ){0,2}${BOX}\\b(?! (?:credentials|passwords?|log ?ins?))|\\bno such (?:name|id)\\b|\\bnosuchuser\\b`,
    ),
    'Exim, Yandex, Qmail, docomo',
    '550 5.7.1 No such user!',
  ),
  NOT_FOUND_IN_ENGLISH,
  gone(
    // Hedged, or as the result of asking another server: the recipient is refused.
    'mailbox_not_found',
    anyOf(
      /\b(?:account|user|mailbox|recipient|address|in-?box|alias|e-?mail)(?:s|es)?(?: or domain)? (?:may|might|could|probably|possibly|does probably) (?:not (?:exist|be (?:valid|found|correct))|no longer (?:exist|be)|be (?:invalid|incorrect|misspelled|mistyped|non-?existent))/,
      /\b(?:recipient|user|mailbox|account|address)(?:s|es)?\b.{0,30}\b(?:can ?not|can't|could not|couldn't) be (?:verified|validated|confirmed|resolved|identified)\b/,
      /\b(?:can ?not|can't|could not|couldn't|unable to|failed to) (?:verify|validate|confirm|resolve|identify) (?:the |this |that )?(?:recipient|user|mailbox|account|rcpt)/,
      /\brecipient (?:address )?(?:verify|verification|validation) (?:from \w{1,16} )?fail/,
    ),
    'cPanel (Exim)',
    '550-"The mail server could not deliver mail to user@example.org. 550-The account or domain may not exist, they may be blacklisted, or missing 550 the proper dns entries."',
  ),
  gone(
    'mailbox_not_found',
    anyOf(
      /\b(?:doesn't|does not|don't|do not) have an?\b.{0,60}\b(?:(?:e-?mail)?account|mailbox|address)/,
      /\bno (?:valid )?(?:mailbox|mail-box|account|user|recipient|address|alias)(?:e?s)?\b.{0,12}\b(?:here|(?:on|at|in) (?:this|our|the) (?:server|system|host|domain)|called|by that name|by this name|found|with (?:that|this)|named|exists?|matching|available|for this|at this)/,
      /\b(?:do not|don't|does not|doesn't) know (?:(?:this|that|the|such an?|any) )?(?:address|user|mailbox|recipient|account)\b/,
      /\bno (?:record|trace) of (?:that|this|the|such|any|mailbox)\b/,
      /\b(?:user|recipient|mailbox|address) ?(?:<> |mailbox )?(?:is )?not ok\b/,
      /\bno (?:such |local |matching |valid )?(?:mail ?box|account|user|alias|recipient) (?:for|called|named)\b/,
      /\bno valid recipients?;?$|\bno mail-?box[\s<>"';:.]*$/,
      /\b(?:does not|doesn't|no longer) works? (?:here|for us|with us)\b/,
      /(?<!DOMAIN )\b(?:isn't|is not|not) (?:one of )?ours\b|\b(?:there is|there's) (?:nobody|no ?one)\b/,
      /\bhas no (?:such )?(?:account|mailbox)\b|\buser ha(?:s|ve) no mail\b/,
      /\bno (?:redirect|forward\w{0,3}|alias)(?: entry)? for (?:this|that) address\b/,
      /\b(?:does not|doesn't) match any\b.{0,20}\b(?:mailbox|user|account|recipient|address)/,
      /\bthere is no (?:one |such )?(?:user|account|mailbox|recipient|address|here)/,
    ),
    'Qmail',
    '550 sorry, no mailbox here by that name (#5.1.1 - chkusr)',
  ),
  gone(
    'mailbox_not_found',
    anyOf(
      /\bmailbox (?!(?:is |was |temporar|currently |for |at ))[^\s:;,]{1,128} unavailable\b/,
      /\bmailbox (?:name )?(?:is )?(?:unavailable|not available|not allowed|name not allowed|name invalid)\b/,
      /requested action not taken: mailbox/,
      /\b5\.4\.1 (?:\[?\]?:? ?)(?:all )?recipient address(?:es)? rejected ?: ?access denied/,
      /recipient address(?:es)? rejected ?: ?access denied\b.{0,40}\b(?:as\(\d|protection\.outlook|eur\d\d|nam\d\d)/,
    ),
    'Outlook.com, GMX, Microsoft 365 edge blocking',
    '550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302). [BN3NAM04FT041.eop-NAM04.prod.protection.outlook.com]',
  ),
  gone(
    'mailbox_not_found',
    anyOf(
      /\brecip(?:ient)?notfound\b|\bresolver\.adr\./,
      /\bnot in (?:the |our |my )?(?:recipient|user|directory|ldap|active directory|local|list of|mailbox|address)/,
      /\bnot listed in\b.{0,40}\b(?:directory|address book)/,
      /\bnot (?:an? customer|our (?:own )?(?:customer|user|mailbox|recipient|account))\b/,
      /\bis not a (?:valid|known|local|registered) (?:user|mailbox|recipient|address|e-?mail|account)/,
      /\blist of allowed recipients\b/,
      /\bnot (?:a valid|an? recogni[sz]ed) (?:\S{1,16} )?(?:user|mailbox|recipient|address|e-?mail|account)/,
    ),
    'ZeroSpam, Domino',
    '554 5.7.1 <user@example.com>: Recipient address rejected: Not in recipient list',
  ),
  gone(
    'mailbox_not_found',
    anyOf(
      /\b(?:mailbox|user|recipient|account|owner|customer|address|person|e-?mail)\b.{0,30}\b(?:has moved|has changed|has been (?:deleted|removed|replaced)|(?:was |is )?(?:deleted|removed) by|was (?:deleted|removed)|is deleted|has left|owner has changed|no longer (?:works|on server|employed|with us))/,
      /\bhas been replaced by\b|user not local/,
    ),
    'RFC 5321 §3.4',
    '550 5.1.6 recipient no longer on server: user@example.go.jp',
  ),
  gone(
    'mailbox_not_found',
    anyOf(
      /(?:#|\b5\d\d |^)5\.1\.[01] (?:address|recipient) rejected\b/,
      /\bdest(?:ination)?\. rejected\b.{0,60}\bnot known\b|\b5\.1\.1\b.{0,12}\b(?:address|recipient) rejected/,
      /^(?:5\d\d )?<>: recipient address rejected\.$|\b5\.2\.4 mailing list expansion problem: <>/,
      /permanent failure for one or more recipients.{0,20}: ?(?:550|554|no such|unknown)/,
      /delivery to the following recipients? failed permanently|\bmailbox[\s-]{1,3}(?:not|un)known/,
    ),
    'Cisco Secure Email, OpenSMTPD, Barracuda',
    '550 #5.1.0 Address rejected.',
  ),
  gone(
    // The address is the subject; it is not part of the normalized text.
    'mailbox_not_found',
    anyOf(
      /^(?:5\.\d\.\d{1,3} )?(?:rcpt )?(?:<>|\(\)?)?[ :.)]{0,3}(?:(?:does not|doesn't|dosn't|do not) exists?\b|n'existe pas|existiert nicht|no existe|non esiste|nao existe|nie istnieje)/,
      /^(?:5\.\d\.\d{1,3} )?rcpt\b.{0,20}\b(?:does not|doesn't|dosn't) exist/,
    ),
    'Exim',
    '550 <user@example.org> does not exist on the domain',
  ),
  gone(
    'mailbox_not_found',
    anyOf(
      /\bunavailable (?:mail )?(?:user|mailbox|recipient)\b/,
      /\b(?:does not|doesn't|do not|don't) exists? (?:that|this|such an?) (?:user|mailbox|account|recipient)\b/,
      /\bnot (?:an? )?(?:user|member|mailbox|account) (?:of|on|at|in) (?:(?:this|the|our|my) )?(?:server|system|domain|host)\b/,
      /\bno ?(?:one|body) (?:here )?(?:with|by) (?:that|this)\b/,
      /\bno longer an? (?:employee|customer|member|user|subscriber)\b/,
      /\bnot found in (?:the |our )?(?:ldap|directory|database|address book|user)/,
      /\b(?:unable to|cannot|can't|could not) (?:find|locate) (?:the |this |that |any )?(?:alias|user|mailbox|recipient|account)\b/,
      /\brecipient rejected\b.{0,6}\belnk\d{3}_4\d\d\b/,
    ),
    'Coremail, Domino, Earthlink',
    '550 5.5.1 Recipient rejected - ELNK001_402 -',
  ),

  gone(
    'mailbox_not_found',
    anyOf(
      /\b(?:can't|cannot|could not|couldn't|unable to) open (?:the |a )?(?:mailbox|inbox|maildir) (?:for|of)\b/,
      /\bvalid notes mail file\b|\binvalid final delivery\b|\bno e-?mail address (?:is )?registered/,
      /\bnot present in (?:the |our )?directory/,
      /\b(?:mailbox|user|recipient|account|address) (?:is |has )?not (?:been )?(?:present|registered|provisioned|configured|created|set up)\b/,
      /\bmissing (?:home|mail) ?directory|\bnever heard of\b(?! you)|\bknow (?:nobody|no ?one)\b/,
      /\buser (?:path )?(?:no|does not) (?:exist|found)/,
      /^(?:5\.\d\.\d{1,3} )?(?:<>:? )?(?:is )?no longer (?:on server|with (?:us|the company)|employed)/,
      /^(?:5\.\d\.\d{1,3} )?(?:<>:? )?(?:(?:was )?not found|(?:is )?not (?:used|in use))\.?$/,
      /\b(?:can ?not|can't|do not|don't|does not|doesn't|will not|won't|unable to) (?:deliver|accept|handle|process|receive|take) (?:any )?(?:(?:e-?)?mails?|messages?) (?:for|to) (?:that|this|such an?) (?:user|mailbox|recipient|account|person|address)\b/,
    ),
    'Sendmail, Domino, SVR4 mailers',
    "550 5.1.1 Can't open mailbox for user",
  ),

  gone(
    // Free words, none of which are about who may send.
    'mailbox_not_found',
    anyOf(
      /^(?!.{0,4096}\b(?:you|your (?:server|host|ip|address|mail|domain|network|machine)|sends?|sending|allowed|permitted|relay|may|from)\b).{0,4096}(?:\b(?:nobody|no ?one|not? any ?(?:one|body)|(?:no|such a) (?:person|man|woman|soul))\b.{0,40}\b(?:called|named?|known|here|lives?|resides?)\b|\b(?:don't|do not|never|not|can ?not|can't|unable to) (?:know|have|heard of|find|locate|recogni[sz]e|identify)\b.{0,12}\b(?:any ?(?:one|body)|some(?:one|body)|such a (?:person|name))|\b(?:someone|somebody|a person|a name) (?:that |whom |who )?(?:we|i) (?:do not|don't|never) (?:know|have|heard)\b|\b(?:is )?(?:a )?(?:stranger|unfamiliar|foreign) to (?:us|me|this)\b|\brings no bell\b|\bnever existed\b|\bnever (?:was|has been|had) an? (?:mailbox|user|account|address)\b|\bno (?:mailbox|user|account|address|recipient) (?:of|under|with) (?:that|this|such a)\b)/,
      /\b(?:has |have )?left (?:the|this|our) (?:firm|company|organi[sz]ation|university|school|office|job)\b/,
      /\bmistyped (?:the |his |her |their )?(?:address|name)/,
      /\b(?:check|verify) the spelling of the (?:recipient|address|name)/,
    ),
    'small hosts in free words',
    '550 There is nobody called joe here',
  ),
  gone(
    'relay_denied',
    anyOf(
      /\b(?:can ?not|can't|do not|don't|does not|doesn't|will not|won't|unable to) (?:deliver|accept|handle|process|receive|take) (?:any )?(?:(?:e-?)?mails?|messages?) (?:for|to)\b/,
      /\bnot (?:handled|served|hosted) (?:by|on|at) (?:this|our) (?:system|server|host)\b/,
      /\brelay check\b.{0,20}\bfail/,
    ),
    'Haraka',
    '550 I cannot deliver mail for user@example.org',
  ),
  gone(
    'relay_denied',
    anyOf(
      /\bn'accept\w{1,4} (?:pas|aucun)\b.{0,40}\bdomaine|\bdomain\w?\b.{0,20}\bkeine (?:e-?)?(?:mails?|post)\b/,
      /\bkeine (?:e-?)?(?:mails?|post)\b.{0,20}\b(?:domain|DOMAIN)|\bno acept\w{1,4}\b.{0,40}\bdominio/,
      /\bnon accett\w{1,5}\b.{0,40}\bdominio|\bnao aceit\w{1,4}\b.{0,40}\bdominio/,
    ),
    'French, German, Spanish, Italian, Portuguese hosts',
    "550 Nous n'acceptons pas de courrier pour ce domaine",
  ),
  gone(
    'relay_denied',
    anyOf(
      /\b(?:nothing to do with|not in charge of|(?:do not|does not|doesn't|don't) (?:host|serve|handle)) (?:(?:that|this|the) domain|DOMAIN)/,
      /^(?:5\.\d\.\d{1,3} )?DOMAIN\b.{0,4}not our business/,
      /\b(?:nicht (?:zustandig|verantwortlich)|niet verantwoordelijk)\b/,
      /\b(?:domain|DOMAIN)\b.{0,30}\bnicht (?:betreut|bedient|gehostet|verwaltet)/,
      /\b(?:ne (?:ger|heberg|servon|desser)\w{1,6} pas|no (?:gestiona|administra|aloja|atiende)\w{0,4}|non (?:gesti|ospit|serv)\w{2,5}|nao (?:atende|gere|hospeda|administra)\w{0,4})\b.{0,20}(?:\bdom|DOMAIN)/,
      /не (?:обслужива|отвеча)\S{0,6} .{0,20}(?:домен|DOMAIN)|不(?:负责|管理|托管|处理).{0,12}(?:域|DOMAIN)/,
      /DOMAIN.{0,20}(?:管理外|管轄外|対象外)/,
      /\b(?:accepts?|takes?|receives?) (?:e-?)?(?:mail|messages) only for (?:its|our|the) (?:own |local |hosted )?domains?\b/,
      /\bnot a final destination\b|\bthird.?party (?:e-?)?mail\b|\bkeine? relay\w{0,4}\b/,
      /\bmail for (?:local|our|hosted|these) domains? only\b/,
      /\bnot responsible for (?:(?:that|this|the) domain|DOMAIN)/,
      /\b(?:not (?:the|an?)|no) (?:mx|(?:mail|e-?mail) ?(?:server|host|exchanger|system)s?) (?:of|for) (?:that|this|the|DOMAIN)\b/,
      /\bmail (?:for|to) (?:(?:that|this|the) domain |DOMAIN |US )?(?:is )?not accepted (?:here|by|at)\b/,
      /\bisn't in my control\/locals\b|домен\S{0,3}.{0,30}не (?:обслуж|принима)|не принима\S{1,3}.{0,30}домен/,
      /ドメイン.{0,16}(?:受け付け|受け取|受信)\S{0,4}(?:ません|ない)|(?:域名|该域|此域).{0,12}(?:不接收|不受理|未托管|不在)/,
      /\bdomen\S{0,3}\b.{0,20}\bnie (?:jest )?obs[lł]ugiwan|\bnie (?:przyjmuj|obs[lł]uguj)\S{1,4}\b.{0,30}\bdomen/,
      /\baccepteert geen (?:e-?)?mail\b.{0,20}\bdomein|\btar inte emot\b.{0,30}\bdoman/,
    ),
    'hosts in Russian, Japanese, Chinese, Polish, Dutch, Swedish, and others',
    '550 домен не обслуживается этим сервером',
  ),
  gone(
    'relay_denied',
    anyOf(
      /\brelay(?:ing|ed)?\b.{0,40}\b(?:denied|not (?:permitted|allowed|authori[sz]ed|possible|enabled|accepted)|prohibited|disallowed|forbidden|refused|disabled|rejected|restricted|(?:switched|turned) off|verboten|verweigert|untersagt|abgelehnt|interdit|refuse|negat|denegad|rechazad|proibid|zabronion|nicht|non)/,
      /\b(?:unable|isn't (?:permitted|allowed|authori[sz]ed)|not (?:permitted|allowed|authori[sz]ed|configured|able|willing)|cannot|can't|do(?:es)? not|don't|doesn't|will not|won't|refuses?|no permission)\b.{0,25}\brelay/,
      /\bno relay(?:ing)?\b|\bno longer relay|\bnot relay(?:ing)?\b|as a relay\b|anti-?relay|\bcan(?:not|'t) relay/,
    ),
    'Sendmail, Postfix, Exchange',
    '554 5.7.1 <user@example.org>: Relay access denied',
  ),
  gone(
    'relay_denied',
    anyOf(
      /\brcpthosts\b|\bnon-?local (?:recipient|e-?mail|address|user)/,
      /\b(?:not|isn't|is not) (?:a )?(?:local|hosted|handled|served)\b.{0,20}\b(?:domain|host|here)/,
      /DOMAIN (?:is not|isn't|not) (?:in |on |one of |among |an? )?(?:our|my|the|served|handled|local|hosted|known|domain (?:(?:that )?(?:we|i)|of|on|at))\b/,
      /(?:domain|host)\b.{0,40}\b(?:not|isn't) (?:hosted|handled|served|local|configured|accepted|in my list|a local|(?:on|at|with) (?:this|our) (?:server|system|host))/,
      /don't (?:handle|accept) (?:mail|e-?mail) for|not (?:a )?gateway|not (?:our|my) domain/,
    ),
    'Qmail',
    "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)",
  ),
]
