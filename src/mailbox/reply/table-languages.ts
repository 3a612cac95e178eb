import type { Reason } from '../reasons.ts'
import { BOX, type ReplyRow, rows } from './row.ts'

/** The words of one language, as patterns over normalized text. */
type Words = {
  /** What it calls a mailbox, its address or its owner. */
  readonly box: string
  /** Behind such a word: there is none. */
  readonly absent: string
  /** Directly before such a word: there is none. */
  readonly no?: string
  /** Behind or before such a word: it is full. */
  readonly full?: string
  /** What it calls the room of a mailbox, which is full. */
  readonly space?: string
  /** Behind such a word: it is disabled. */
  readonly off?: string
  /** Behind such a word: it was deleted. */
  readonly gone?: string
  /** Whole phrases: there is no room left. */
  readonly room?: string
  /** Whole phrases: nobody of that name is known, or the person has left. */
  readonly nobody?: string
}

const LANGUAGES: Readonly<Record<string, Words>> = {
  French: {
    box: 'adresse|destinataire|utilisateur|compte|boite|correspondant|messagerie|abonne|e-?mail|courriel',
    absent:
      "incorrecte?|erronee?|inconnue?|n'existe|n existe|invalide|introuvable|inexistante?|non trouve|inexistante?s?|n'a pas (?:ete |pu etre )?(?:trouv|localis)|n'est pas (?:valide|connue?|attribue|reconnue?)|non valide",
    no: "aucune?|n'existe (?:pas|aucun\\w?)(?: d'| de)?",
    full: 'pleine|saturee|remplie|insuffisant|limite de stockage|quota|espace (?:de stockage )?(?:sature|epuise|insuffisant)',
    off: 'desactiv|suspendu|bloque|verrouill|inactif|inactive|ferme|resili|clotur|en sommeil|resilie|cloture|plus active?',
    gone: 'supprime|efface|detruit|n.est plus (?:utilise|attribue)',
    room: "plus (?:assez )?d(?:e |'|e l')(?:place|espace)|manque (?:de place|d'espace)|deborde",
    nobody:
      "personne (?:(?:a|avec|sous) (?:cette adresse|ce nom)|ne porte|de ce nom|(?:ne )?s.appelle)|connai\\w{2,6} (?:pas (?:cette personne|ce (?:nom|correspondant|destinataire))|personne)|(?:a|ont) quitte (?:la|le|notre|nos|l')|ne travaille plus|ne fait plus partie",
  },
  German: {
    box: 'empfaenger\\w{0,9}|empfanger\\w{0,9}|benutzer\\w{0,5}|nutzer|adressat|e-?mail-?adresse|adresse|konto|postfach|mailbox|teilnehmer|kunde|inhaber|account|(?:e-?)?mail-?(?:konto|adresse)',
    absent:
      'unbekannt|nicht (?:hier )?beheimatet|existiert (?:hier )?nicht|nicht (?:gefunden|bekannt|vorhanden|gultig|existent|eingerichtet)|ungultig|nicht \\(?mehr\\)? (?:verfue?gbar|vergeben|aktuell|vorhanden|bekannt|gultig)|nicht i[mn] .{0,24}(?:verzeichnis|adressbuch)|kennen wir nicht|gibt es (?:\\w{1,8} ){0,2}nicht|nicht (?:hier |bei uns )?(?:gefunden|bekannt)|nicht (?:gefunden|zugeordnet|zustellbar)|nicht eingerichtet',
    no: 'ungultige\\w?|falsche\\w?|fehlerhafte\\w?|unbekannte\\w?|keine?n?(?: solche\\w?)?',
    full: 'voll|uberfullt|ausgelastet|uberschritten|erschopft|aufgebraucht|belegt|randvoll|(?:speicher|quota|platz)\\w{0,16} (?:erreicht|uberschritten)',
    space: 'speicher\\w{0,12}',
    off: 'gesperrt|deaktiviert|inaktiv|gekundigt|abgeschaltet|geschlossen|stillgelegt|nicht mehr aktiv|ruht\\b',
    gone: 'gelo(?:e)?scht|entfernt|aufgegeben|aufgehoben',
    room: 'kein(?:en)? (?:freie[rn]? )?(?:platz|speicher\\w{0,5}) (?:mehr|frei|vorhanden|im (?:postfach|konto))|quillt',
    nobody:
      'niemand\\w{0,2}\\b.{0,40}\\b(?:namen?|hei(?:ss|ß)t|adresse|erreich\\w{2,4}|hier|bekannt)|(?:namen?|adresse|hier|kennen)\\b.{0,40}\\bniemand|kein anschluss unter|ausgeschieden|arbeitet\\b.{0,20}\\bnicht mehr|nicht mehr (?:bei uns|beschaftigt|im (?:haus|unternehmen))|(?:unternehmen|firma) verlassen',
  },
  Spanish: {
    box: 'usuario|destinatario|cuenta|buzon|direccion|casilla|correo|bandeja de entrada|destino',
    absent:
      'incorrect|erroneo|no existe|desconocid|no (?:fue |ha sido |se ha )?encontrad|no esta (?:dad[oa] de alta|registrad)|no se encuentra|inexistente|no (?:es )?valid|invalid|no (?:pudo|puede|ha podido) ser encontrad|no es (?:conocid|reconocid)',
    no: 'no (?:existe|conocemos)(?: a)? ?(?:el |la |al |ese |esa |tal )?|(?:no hay )?ningun[ao]?',
    full: 'llen[oa]\\b|excedid|superad|agotad|sin espacio|saturad|al limite|excedido (?:el|su) (?:espacio|limite|tamano)',
    off: 'deshabilitad|desactivad|suspendid|expirad|caducad|vencid|inactiv|bloquead|cancelad|dad[oa] de baja|cerrad|no esta activ',
    gone: 'eliminad|borrad|suprimid',
    room: '(?:no (?:hay|queda|tiene)|sin) (?:mas )?espacio',
    nobody:
      'nadie (?:con|llamado|que se llame|por)|ya no (?:trabaja|labora|forma parte|pertenece)|no conocemos a|dejo la (?:empresa|compania)',
  },
  Italian: {
    box: 'utente|destinatario|destin|casella|indirizzo|account|mailbox',
    absent:
      'sconosciut|errat|inesistente|non esiste|non (?:e )?(?:stat[oa] )?(?:trovat|valid)|non risulta|non presente|non (?:e )?(?:registrat|conosciut|riconosciut|present|attestat)',
    no: 'nessuna?',
    full: 'pien[oa]\\b|esaurit[oa]|satur|limite di (?:spazio|capacita)|quota',
    space: 'spazio',
    off: 'disabilitat|disattivat|sospes|inattiv|bloccat|chius|scadut|non (?:e )?(?:piu )?attiv',
    gone: 'cancellat|eliminat|rimoss|soppress',
    room: "(?:non c'e|senza) (?:piu )?(?:spazio|posto)|spazio (?:insufficiente|terminato)|non ha (?:piu )?spazio",
    nobody:
      "nessuno (?:con|di|che si chiam)|non (?:lavora|fa parte|collabora) piu|non conosciamo (?:nessuno|quest)|ha lasciato (?:la|l')",
  },
  Portuguese: {
    box: 'usuario|utilizador|destinatario|conta|caixa|endereco|mailbox|e-?mail',
    absent:
      'incorret|nao existe|desconhecid|inexistente|nao (?:esta )?(?:cadastrad|registrad)|nao encontrad|nao foi encontrad|nao localizad|invalid|nao foi localizad|nao (?:e )?(?:valid|conhecid|reconhecid)',
    no: 'nao existe (?:o |a |esse |essa )?|nenhuma?',
    full: 'chei[oa]\\b|lotad[oa]|excedeu\\b.{0,30}\\b(?:espaco|limite)|atingiu (?:o|seu) limite|esgotad',
    off: 'desativad|desabilitad|suspens|inativ|bloquead|cancelad|encerrad|inactiv[ao]\\b|expirad',
    gone: 'excluid|apagad|removid|eliminad',
    room: '(?:nao ha|sem) (?:mais )?espaco|espaco (?:insuficiente|esgotado)|(?:nao ha|sem) (?:mais )?espaco',
    nobody:
      'ninguem (?:com|chamado)|nao (?:trabalha|faz parte|pertence)|nao conhecemos (?:ninguem|est|ess)|deixou a empresa',
  },
  Dutch: {
    box: 'gebruiker|(?:e-?mail)?adres|ontvanger|postbus|postvak|mailbox|account|geadresseerde|inbox|e-?mail(?:account|adres)|brievenbus',
    absent:
      'onbekend|bestaat niet|niet gevonden|ongeldig|bestaat hier niet|niet (?:worden |meer )?(?:gevonden|bekend|geldig|herkend)|kan niet worden gevonden',
    no: 'ongeldige?|onjuiste?|onbekende?',
    full: 'vol\\b|overvol|limiet (?:bereikt|overschreden)',
    off: 'geblokkeerd|gedeactiveerd|uitgeschakeld|opgeheven|gesloten|opgezegd|opgeschort|inactief|afgesloten|niet (?:meer|langer) actief|gesperd',
    gone: 'verwijderd|gewist',
    room: 'geen (?:ruimte|plaats) (?:meer|vrij)|onvoldoende (?:schijf)?ruimte|geen ruimte',
    nobody: 'niemand (?:met|die|van)|niet meer (?:in dienst|werkzaam|bij ons)|werkt (?:hier )?niet (?:meer|langer)',
  },
  Polish: {
    box: 'u[zż]ytkownik\\w{0,2}|adres\\w{0,3}|skrzynk\\w|konto|konta|odbiorc\\w|adresat',
    absent:
      'nie istnieje|nie wystepuje|nie figuruje|nieznan|nie (?:zosta[lł]\\w? )?znalezion|nieprawid[lł]ow|nie (?:jest )?(?:znan|odnalezion)|b[lł][eę]dn',
    no: 'nieprawid[lł]ow\\w{1,2}|b[lł][eę]dn\\w{1,2}|nieznan\\w{1,2}|nie ma takie\\w{1,2}',
    full: 'pe[lł]n|przepe[lł]nion|przekroczy\\S{1,3} (?:limit|pojemnosc)|osiagne\\S{1,3} limit|osi[aą]gn[eę][lł]\\w limit|przekroczono (?:limit|pojemnosc)',
    off: 'zablokowan|nieaktywn|wy[lł][aą]czon|zawieszon|zamkni[eę]t',
    gone: 'usuni[eę]t|skasowan|zlikwidowan',
    room: 'brak (?:wolnego )?miejsca|nie ma (?:juz )?(?:wolnego )?miejsca',
    nobody: 'nie (?:znamy|ma) (?:nikogo|takiej osoby)|nikt (?:taki|o ty[mc]|o taki)|nie pracuje|juz u nas nie',
  },
  'Czech, Slovak': {
    box: 'uzivatel\\w{0,2}|schrank\\w|adresat|(?:e-?mailov\\w )?adres\\w|prijemc\\w|pouzivatel|ucet|konto|prijemca|adresat|schranka',
    absent:
      'neplatn|neexistuj|neznam|nenalezen|nebyl\\w? nalezen|nenajden|nenasiel|nebol\\w? najden|nebyl\\w? nalezen|nepoznam',
    no: 'neplatn\\w{1,2}|neexistujici|neznam\\w{1,2}',
    full: 'pln[ae]\\b|preplnen',
    off: 'zablokovan|deaktivovan|zrusen|neaktivn|pozastaven|uzavren|zatvoren|uzamcen|vypnut',
    gone: 'smazan|odstranen|vymazan',
    room: 'neni (?:zadne |dost |uz )?mist|nedostatek mista|uz neni misto',
    nobody: 'takova osoba|nik(?:do|oho) (?:takov|s t[ii]mto)|(?:uz|jiz) (?:\\w{1,4} ){0,2}nepracuje',
  },
  Turkish: {
    box: 'kullan[ıi]c[ıi]|adres|hesa(?:p|b)\\S{0,4}|al[ıi]c[ıi]|posta kutusu',
    absent: 'bulunamad|yok|bilinmiyor|mevcut degil|gecersiz',
    no: 'gecersiz',
    full: 'dolu|dolmus|doldu|as[ıi]ld|kota',
    space: 'kota',
    off: 'devre d[ıi]s[ıi]|ask[ıi]ya al[ıi]n|kapat[ıi]l|kilitl|engellen',
    gone: 'silin',
    room: 'yer (?:kalma|yok)|(?:bos|yeterli) alan\\S{0,2} (?:yok|kalma)',
    nobody: 'boyle biri|bu isimde|burada cal[ıi]sm[ıi]yor|art[ıi]k cal[ıi]sm[ıi]yor',
  },
  'Swedish, Danish, Norwegian, Finnish': {
    box: 'anvandar\\w{0,3}|mottagar\\w{1,8}|(?:e-?post)?adress(?:en)?|brevlad\\S{0,3}|postkass\\S{0,3}|kontot?|bruger\\w{0,3}|bruker\\w{0,3}|modtager\\w{0,3}|mottaker\\w{0,3}|kayttaja\\w{0,2}|vastaanottaja\\w{0,2}|osoite\\w{0,2}|postilaatik\\w{1,4}|tili[an]?\\b',
    absent:
      'ogiltig|ugyldig|virheelli|okand|finns inte|finns ej|hittades inte|blev? ikke fun|ukendt|ukjent|findes ikke|finnes ikke|eksisterer ikke|tuntematon|ei ole|ei loydy|finns ej|existerar inte|findes ej',
    no: 'ogiltig\\w?|ugyldig\\w?|virheelli\\w{2,4}|okand|ukendt|ukjent',
    full: 'full\\b|fuld\\b',
    off: 'sparra[td]|avstang[td]|inaktiv|deaktiver|sperret|spærret|lukket|stengt|stang[td]|suljettu|lukittu|kaytosta',
    gone: 'rader|bort ?tag|slettet|fjernet|poistettu',
    room: 'ing(?:et|en) (?:mer )?(?:utrymme|plats)|ikke (?:mere?) (?:plads|plass)|ei (?:ole )?tilaa|taynna',
    nobody:
      'ingen (?:\\w{3} )?(?:med|ved|vid) (?:det|dette|detta)|(?:slutat|sluttet|stoppet) (?:hos|i|pa)|(?:jobbar|arbetar|jobber|arbejder) (?:inte|ikke)|nimista henkiloa',
  },
  Greek: {
    box: 'χρ[ηή]στη|παραλ[ηή]πτη|δι[εέ][υύ]θυνση|λογαριασμ|γραμματοκιβ[ωώ]τιο|θυρ[ιί]δα',
    absent: 'δεν (?:υπ[αά]ρχ|βρ[εέ]θηκ)|[αά]γνωστ|ανυπ[αά]ρκτ',
    no: '[αά]γνωστο\\S?',
    full: 'γεμ[αά]τ|πλ[ηή]ρ',
    off: 'απενεργοποι|ανενεργ|κλειδωμ|αναστ[οα]λ',
    gone: 'διαγρ[αά]φ',
    room: 'δεν υπ[αά]ρχει .{0,12}χ[ωώ]ρος',
    nobody: 'κανε[ιί]ς|δεν εργ[αά]ζεται',
  },
  'Russian, Ukrainian, Bulgarian, Serbian': {
    box: 'пользовател|адрес|ящик|получател|аккаунт|уч[её]тн|користувач|скриньк|одержувач|отримувач|обліков|потребител|пощенск|акаунт|корисник|прималац|абонент|адресат|почта|почтов|прималац|примач|сандач|сметк|кутия',
    absent:
      'не существует|не найден|не зарегистрирован|неизвест|отсутству|недейств|не сущ|не існу|не знайдено|невідом|відсутн|не съществува|непознат|невалид|не е намерен|не посто[иј]|не (?:обнаружен|значится|числится)|невер[е]?н|некоррект|не е пронајден|не съществува|не постои',
    no: 'неверн\\S{2,3}|неправильн\\S{2,3}|несуществующ\\S{2,3}|недействительн\\S{2,3}|некорректн\\S{2,3}|невірн\\S{1,3}|невалид\\S{1,3}|нет(?: такого)?|так(?:ого|ой)|неизвестн\\S{2,3}',
    full: 'переполнен|заполнен|полон|переповнен|повн[аи]|пълн|превышен|исчерпан|полно|препълн|лимит ящика|исчерпал',
    off: 'заблокирован|отключ[её]н|неактив|приостановлен|деактивирован|заблокован|вимкнен|деактивован|закр[ыи]т|блокиран|деактивиран|спрян|заморожен|больше не (?:использу|обслужива)|затворен',
    gone: 'удал[её]н|видален|изтрит|обрисан|ликвидирован',
    room: '(?:нет|не осталось|не хватает|недостаточно) (?:свободного )?места|(?:нема\\S?|недостатньо) (?:вільного )?місця|няма място',
    nobody:
      'таких (?:здесь )?нет|нет (?:здесь |у нас )?таких|никого с таким|(?:больше|уже|тут|здесь|у нас) (?:здесь |у нас )?не работа|уволил|(?:більше|вже|тут) не працю|так\\S{2,3} (?:людин|особ|человек|сотрудник)',
  },
  Japanese: {
    box: 'ユーザ|宛先|メールボックス|アドレス|受信者|受信箱|アカウント|あて先|受信トレイ|送信先|受取人|届け先',
    absent:
      '存在しません|存在しない|存在致しません|使われて(?:おり|い)ません|使用されて(?:おり|い)ません|見つかりません|見つからない|不明|ありません|登録されていません|(?<![てで])(?:いません|おりません)|不明|見つかりませんでした|使用されていません|間違',
    full: '一杯|いっぱい|満杯|超過|超え|オーバー|上限に達し|容量不足|上限',
    space: '容量',
    off: '停止|無効|凍結|休止|休眠|停止|中止',
    gone: '削除',
    room: '空き(?:容量)?が(?:ありません|ない|不足)|容量(?:不足|が足り|が不足)',
    nobody: '該当する(?:方|人|者)|退職|(?:名前|名)の(?:人|方|者).{0,12}(?:いません|おりません)',
  },
  Chinese: {
    box: '用户|用戶|收件人|邮箱|信箱|帐号|账号|帳號|地址|郵箱|账户|帐户|使用者|收信人|此人|收件箱|邮件地址|用户名|收件者',
    absent: '不存在|未找到|无效|無效|有误|錯誤|错误|不正确|找不到|没有找到|查无|查無|未注册|未知',
    no: '(?:不存在|没有|沒有|查无|查無|无|無)(?:该|此|的|这个|這個|該)?',
    full: '已满|满了|已滿|爆满|不足|超限|超出|超过',
    space: '空间|容量',
    off: '禁用|停用|冻结|锁定|注销|凍結|封禁|鎖定|禁用|暂停|已注销|被封|停止',
    gone: '删除|刪除|撤销',
    room: '(?:没有|沒有|无|無).{0,4}(?:空间|空間)|(?:空间|空間|容量)不足',
    nobody: '查[无無]此人|[离離][职職]|没有(?:叫|这个人|此人|这样的人)|沒有(?:叫|這個人|此人)',
  },
  Korean: {
    box: '사용자|수신자|메일함|계정|주소|받는 ?사람|수신인|받은 ?편지함|회원|이메일|메일 ?주소',
    absent: '잘못|유효하지|없습니다|존재하지|찾을 수 없|없음|없는|없는 주소|찾을 수 없음|알 수 없',
    no: '잘못된|유효하지 않은|존재하지 않는',
    full: '가득|초과|꽉',
    off: '정지|중지|비활성|해지|휴면|잠겨|잠김|중단|차단',
    gone: '삭제',
    room: '공간[이은]? ?(?:없|부족)|용량[이은]? ?부족|(?:저장 )?공간[이은]? ?부족',
    nobody:
      '(?:삭제|탈퇴|해지)(?:된|한) ?(?:계정|회원|사용자)|이름[을의]? ?(?:가진 )?(?:사람|분)[이은]? ?(?:없|존재)|그런 (?:사람|분)|퇴사|퇴직',
  },
  'Arabic, Hebrew, Persian': {
    box: 'المستخدم|العنوان|الحساب|صندوق|المستلم|البريد|משתמש|כתובת|תיבה|תיבת|נמען|חשבון|کاربر|نشانی|گیرنده|حساب',
    absent:
      'غير موجود|غير معروف|لا يوجد|غير صالح|לא קי|לא נמצא|לא מוכר|לא ידוע|אינ\\S{1,2} קי|وجود ندارد|یافت نشد|نامعتبر|ناشناس|غير مسجل|خاطئ',
    no: 'لا يوجد',
    full: 'ممتلئ|ممتلئة|מלאה?|پر (?:است|شده)|امتلأ',
    off: 'معطل|موقوف|مغلق|معلق|חסום|מושבת|סגור|נעול|מושע|غیرفعال|مسدود|محظور',
    gone: 'נמחק|הוסר|حذف|محذوف',
    room: 'אין (?:עוד |יותר )?מקום|لا (?:توجد|يوجد) مساحة|فضای کافی',
    nobody: 'אין (?:אדם|איש|עובד)|לא עובד|لا (?:أحد|يوجد أحد|يوجد شخص)|لم يعد يعمل|کسی با این نام',
  },
  'Vietnamese, Indonesian': {
    box: 'nguoi dung|nguoi nhan|[dđ]ia chi|hop thu|hộp thư|tai khoan|pengguna|penerima|alamat|akun|kotak (?:surat|masuk)|akaun|peti mel',
    absent:
      'tidak valid|salah|khong (?:ton tai|tim thay|hop le|co)|tidak (?:ditemukan|ada|dikenal|terdaftar|wujud|sah)|tidak (?:dikenali|dijumpai)',
    no: 'khong (?:ton tai|tim thay)',
    full: 'đay|day\\b|penuh',
    off: 'bi khoa|vo hieu|ngung hoat|dinonaktifkan|ditangguhkan|diblokir|tidak aktif|digantung|dilumpuhkan|bi (?:tam )?ngung',
    gone: 'bi xoa|dihapus',
    room: 'het dung luong|khong con (?:cho|dung luong)|tidak ada ruang',
    nobody: 'khong co (?:ai|nguoi nao)|nghi viec|tidak ada (?:orang|yang bernama)|tidak bekerja',
  },
  Thai: {
    box: 'ผู้ใช้|ผู้รับ|ที่อยู่|บัญชี|กล่องจดหมาย',
    absent: 'ไม่มี|ไม่พบ|ไม่ถูกต้อง|ไม่รู้จัก',
    no: 'ไม่พบ|ไม่มี',
    full: 'เต็ม',
    off: 'ถูกระงับ|ปิดใช้งาน|ถูกล็อก|ถูกปิด',
    gone: 'ถูกลบ',
    room: 'ไม่มี(?:พื้นที่|ที่ว่าง)',
    nobody: 'ไม่มี(?:ใคร|บุคคล)|ลาออก',
  },
  'Hungarian, Romanian, South Slavic, Baltic': {
    box: 'felhasznalo|cimzett|postafiok|fiok|e-?mail ?cim|utilizator\\w{0,3}|destinatar\\w{0,3}|adresa|cont\\w{0,2}|casuta|korisni[ck]\\w?|sanduc\\w{1,3}|primatelj|primalac|racun|uporabnik|prejemnik|naslov|kasutaja|lietotaj\\w|vartotoj\\w{1,2}|saaja|adresats|nabiralnik|sanduce|nalog|gavej\\w{1,2}|paskyra|sanemej\\w|konts',
    absent:
      'nem letezik|ismeretlen|nem talalhato|ervenytelen|nu exista|necunoscut|inexistent|nu a fost gasit|invalid|ne postoji|nepoznat|ne obstaja|neznan|nije (?:prona|valjan|ispravn|vazec)|ei ole olemas|puudub|neeksiste|nerasta|neegzistuoja|tundmatu|nezinam|nezinom|ni (?:najden|veljav|znan)|neteising|nav (?:zinam|atrast|derig)|nezinom|nije (?:pronaden|ispravn)',
    no: 'ervenytelen|nevazec\\w{1,3}|neveljav\\w{1,3}|ismeretlen|nincs ilyen',
    full: 'megtelt|tele\\b|plin[ae]?\\b|pun\\b|poln[ai]?\\b|puno\\b|prepun|perpild|piln\\w\\b|preplnen',
    off: 'letiltva|le van tiltva|felfuggesztve|inaktiv|zarolva|dezactivat|suspendat|blocat|inchis|blokiran|deaktiviran|onemogucen|zatvoren|suspendiran|suspendovan|ugasen|inactiv|onemogocen|zaprt|isjungt|neaktyv|uzblokuot|bloket|atslegt|nav aktiv',
    gone: 'torol[vt]|stears|[oi]z?brisan|istrint|dzest|kustutat',
    room: 'nincs (?:tobb )?(?:szabad )?hely|nu mai (?:este|are) (?:loc|spatiu)|nema (?:vise )?(?:mjesta|mesta|prostora)|ni (?:vec )?prostora|nima (?:vec )?prostora',
    nobody:
      'ilyen nevu|nem dolgozik|nu mai lucreaza|nimeni cu (?:acest|numele)|(?:nitko|niko) (?:s|sa|pod) tim|vise ne radi|ne dela vec|nebedirba|nestrada|ei toota',
  },
  'Catalan, Basque, Galician, Maltese': {
    box: 'usuari\\w{0,2}|utent|bustia|adreca|compte|erabiltzaile\\w{0,2}|postontzi\\w{0,2}|usuario|caixa|destinatari',
    absent:
      'no existeix|desconegut|no trobat|no s.ha trobat|ez da (?:existitzen|aurkitu)|ezezagun|n[ou]n e(?:x)?iste|no es valid',
    full: 'plena?\\b|betea?\\b',
    off: 'desactivat|desgaitu|suspes|bloquejat',
    gone: 'suprimit|eliminat|ezabatu',
  },
  'Latvian, Lithuanian, Estonian, Icelandic': {
    box: 'lietotaj\\w|pastkast\\w|adres\\w{0,3}|vartotoj\\w{1,2}|pasto dezut\\w{1,2}|kasutaja\\w?|postkast|notandi\\w{0,2}|postholf\\w{0,2}|netfang|saaja|aadress|konto|vidtakandi|viðtakandi',
    absent:
      'nav atrast|neeksiste|nepastav|nezinam|nerast|neegzistuo|nezinom|ei leitud|puudub|tundmatu|fannst ekki|er ekki til|othekkt|ei (?:eksisteeri|leitud)|neteising|nav (?:zinam|derig)|oþekkt',
    full: 'piln\\w\\b|tais\\b|fullt?\\b|perpild',
    off: 'bloket|uzblokuot|suletud|lokad|isjungt|neaktyv|atslegt|nav aktiv|blokeeritud|keelatud|lokad|lokað|ovirk',
    gone: 'dzest|istrint|kustutat|eytt',
  },
  'Albanian, Azerbaijani, Uzbek, Swahili, Filipino, Malay, Irish, Welsh': {
    box: 'perdorues\\w|llogaria|istifad[eə]ci|foydalanuvchi|mtumiaji|anwani|kisanduku|gumagamit|mailbox|pengguna|penerima|peti mel|usaideoir|defnyddiwr',
    absent:
      'nuk ekziston|nuk u gjet|i panjohur|tap[ıi]lmad[ıi]|movcud deyil|topilmadi|mavjud emas|hayupo|haipatikani|hakupatikana|hindi (?:umiiral|mahanap)|tidak (?:dijumpai|wujud)|nil .{0,16}ann|ddim yn bodoli',
    no: 'walang (?:ganoong )?',
    full: 'plot|dolu|puno|penuh|imejaa|lan\\b',
  },
  'Kazakh, Georgian, Armenian, Macedonian': {
    box: 'пайдаланушы|мекенжай|корисник|сандаче|მომხმარებელ|მისამართ|օգտատեր|օգտվող|հասցե|примач|сметка|адреса',
    absent: 'табылмады|жоқ|не постои|непознат|არ არსებობს|ვერ მოიძებნა|գոյություն չունի|չի գտնվել|не е пронајден',
    full: 'толы|полно|სავსეა|լցված',
    off: 'блокиран|деактивиран|затворен',
  },
  'Hindi, Bengali, Tamil': {
    box: 'उपयोगकर्ता|पता|खाता|मेलबॉक्स|इनबॉक्स|ব্যবহারকারী|ঠিকানা|মেইলবক্স|பயனர்|முகவரி|அஞ்சல்பெட்டி|प्राप्तकर्ता',
    absent: 'मौजूद नहीं|नहीं मिला|अज्ञात|পাওয়া যায়নি|নেই|অজানা|இல்லை|காணப்படவில்லை|अमान्य',
    full: 'भर|পূর্ণ|ভর|நிரம்ப',
    off: 'निलंबित|अक्षम|बंद',
  },
}

/**
 * English, for what no phrase of the other tables has: a mailbox and its state. Read last, when the text has no word
 * about us.
 */
const ENGLISH: Words = {
  box: `${BOX}(?: name| id|'s?)?`,
  absent:
    "unkn?own|undefined|is bad\\b(?! (?:reputation|ip|host))|mis-?spel(?:led|t)|mistyped|wrong(?! (?:password|server|host|region))|unroute?able|unrecogni[sz]ed|unregistered|non-?exist[ae]nt|inexistent|incorrect|invalid|(?:not|can ?not|can't|couldn't|isn't|wasn't|never) (?:be |been |being |currently |yet |actually ){0,2}(?:an? |one |any )?(?:known|found|defined|located|identified|recogni[sz]ed|matched|assigned|registered|listed|valid|present|used|in use|provisioned|configured|created|hosted|set up|local|existing|resolved|available here|member|part|live|reside|belong|on (?:file|record|our|the|this|my)|in (?:our|the|this|my)|here|ours?\\b|of)|(?:not|n't|no longer|never|dos[ne]{1,2}'t) (?:currently |seem to |appear to |yet |actually )?exists?|no longer (?:available|here|with|at)|returned (?:nothing|no )|nowhere to be found",
  no: "not an? (?:local|valid|known|existing|registered|active|real)|(?:did not|didn't|can ?not|can't|could not|couldn't|unable to) (?:find|locate|match|recogni[sz]e|identify)(?: the| this| that| any| an?)?",
  full: 'full|stuffed|crammed|overfull|overflow\\w{0,3}|at 1\\d\\d ?%|(?:over|reached|hit|beyond|above) (?:its|the|his|her|their|a) (?:\\w{1,12} ){0,2}(?:limit|size|capacity|allowance|maximum|storage)|(?:no|not|out of|without|lacks?|lack of|insufficient) (?:free |more |any |remaining |available |disk |enough |storage ){0,2}(?:disk ?)?(?:space|room|storage)|(?:size|space|storage|capacity|disk|allotment)\\b.{0,30}\\b(?:limit|exceed\\w{0,3}|reached|exhausted|insufficient|not enough|used up)|(?:cannot|can.t|unable to) (?:hold|store|take) (?:any )?more',
  space: 'storage|disk|letter ?box|post ?box|mail ?folder|mail ?file|mail ?dir|mail ?store|mail ?drop',
  off: 'disabled|suspended|de-?activated|parked|(?<=\\b(?:is|was|been) )blocked by (?:an? |the |its |our )?(?:\\w{1,12} )?(?:admin\\w{0,12}|owner|operator)|not accepting (?:any )?(?:e-?)?(?:mail|messages)(?! (?:from|with))|inactive|frozen|terminated|discontinued|locked out|retired(?! from)|dormant|archived|abandoned|on (?:hold|ice)|asleep|to sleep|mothballed|(?:turned|switched|shut) (?:off|down)|withdrawn|revoked|cancel\\w{1,3}|(?<=\\b(?:is|was|been|has|status|now|permanently|account|mail ?box|user|address|recipient|in-?box) )(?:closed|expired|locked|hang ?up)|out of (?:service|use)|not (?:yet )?(?:be |being |been )?(?:active|activated|enabled|in (?:service|operation)|served(?! (?:here|by|at|on)\\b)|read|monitored)|no longer (?:be |being )?(?:active|enabled|in (?:service|use|operation)|served|read|monitored|operated|supported|used|open|valid|accept\\w{0,3}|receiv\\w{0,3})',
  gone: 'deleted|removed|erased|purged|has left|moved (?:away|on|to)',
  nobody:
    'no (?:mail ?box|account|user|alias|recipient|customer) (?:is |was |has been )?(?:configured|registered|associated|assigned|set up|defined|linked|match\\w{0,3}|owns)|(?:nobody|no ?one) (?:owns|has|uses)|look-?up:? (?:returned )?(?:0|no|nothing)\\b',
}

/**
 * One pattern of all languages that write something. Words in Latin letters begin at a boundary; others have shorter
 * gaps.
 */
type Write = (words: Words, gap: string) => readonly (string | undefined)[]
const inAll = (write: Write, languages: readonly Words[] = Object.values(LANGUAGES)): RegExp =>
  new RegExp(
    languages
      .flatMap((words) => {
        const isLatin = /^[a-z(]/.test(words.box)
        const parts = write(words, isLatin ? '.{0,50}' : '.{0,24}').filter((part) => part !== undefined)
        return parts.map((part) => (isLatin ? `\\b(?<!\\bip[ -])(?:${part})` : `(?<!ip[ -]?)(?:${part})`))
      })
      .join('|'),
    'u',
  )
/** Not an address of a network. */
const BOX_ONLY = '(?! ip)'
const HOST_WORD = '(?:serv[ei]|system|sistem|festplatte|dis[ckq]|сервер|диск|サーバ|服务器|服務器|서버)'

const full: Write = ({ box, full, room, space = box }, gap) => [
  full && `(?:${box}|${space})${BOX_ONLY}${gap}(?:${full})|(?:${full}).{0,30}\\b(?:${box}|${space})${BOX_ONLY}`,
  room && `(?<!${HOST_WORD}.{0,40})(?:${room})(?!.{0,60}${HOST_WORD})`,
]
const disabled: Write = ({ box, off }, gap) => [off && `(?:${box})${BOX_ONLY}${gap}(?:${off})`]
const notFound: Write = ({ box, absent, gone, nobody, no }, gap) => [
  `(?:${box})${BOX_ONLY}${gap}(?:${absent})`,
  gone && `(?:${box})${BOX_ONLY}${gap}(?:${gone})`,
  nobody,
  no && `(?:${no}) ?(?:${box})${BOX_ONLY}`,
]

const row = (reason: Reason, pattern: RegExp, codes: ReplyRow['codes'], reply: string): ReplyRow =>
  rows('recipient', codes)(reason, pattern, 'hosts in other languages', reply)

export const FULL_ABROAD = row('mailbox_full', inAll(full), 'any', '552 5.2.2 Das Postfach des Empfaengers ist voll')
export const DISABLED_ABROAD = row(
  'mailbox_disabled',
  inAll(disabled),
  '5xx',
  '550 5.2.1 La cuenta ha sido deshabilitada',
)
export const NOT_FOUND_ABROAD = row(
  'mailbox_not_found',
  inAll(notFound),
  '5xx',
  '550 5.1.1 Adresse d au moins un destinataire invalide. OFR_416 [416]',
)

/** Words of what a server may say about us, so that a state in the same sentence may be ours. */
const OF_US =
  'your (?:ip|server|host|mta|network|isp)|you (?:are(?! (?:writing|trying))|have|must|need)|clients?|connect(?:ed|ing|ions?)|senders?|sending (?:host|server|ip|mta)|relay(?! recipient)\\w*|ip|rdns|helo|ehlo|dynamic|dial-?ups?|residential|host ?names?|reputation|spammers?|(?<!\\b(?:our|this|the) )networks?|(?:that|which|who|used to) sen(?:ds?|t)|who (?:mailed|wrote)|(?:recipients?|users?|rcpts?) (?:limit|count|number)s?|sessions?|subscriber line|(?<!without )log ?in|passwords?|authenticat\\w*|isp'
const english = (reason: Reason, write: Write, codes: ReplyRow['codes'], reply: string): ReplyRow => {
  const pattern = new RegExp(`^(?!.{0,4096}\\b(?:${OF_US})\\b).{0,4096}(?:${inAll(write, [ENGLISH]).source})`, 'u')
  return rows('recipient', codes)(reason, pattern, 'any host, in other words', reply)
}
export const FULL_IN_ENGLISH = english('mailbox_full', full, 'any', '522 5.2.2 mailbox over its limit, try later')
export const DISABLED_IN_ENGLISH = english('mailbox_disabled', disabled, '5xx', '550 Address is retired')
export const NOT_FOUND_IN_ENGLISH = english('mailbox_not_found', notFound, '5xx', '550 Mailbox name jo is not on file')
