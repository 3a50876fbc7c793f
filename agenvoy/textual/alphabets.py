"""What texts of the common languages are written with: the ground on which encodings are told apart.

Letters beyond ASCII by language, and the most frequent ideographs and syllables of Chinese, Japanese and Korean
(a few hundred make well over half of any running text, while bytes read in a wrong encoding hit them by chance only).
"""

from __future__ import annotations

_WESTERN = (
    "éèêëàâçîïôûùüœæÿ",  # French
    "äöüß",
    "áéíóúñüªº",  # Spanish
    "áâãàçéêíóôõúüªº",  # Portuguese
    "àèéìòùîº",  # Italian
    "åäöæøé",  # Nordic
    "áéíóúýþæöð",  # Icelandic
    "ëïéèüöä",  # Dutch
    "àèéíïòóúüç",  # Catalan
)
_CENTRAL = (
    "ąćęłńóśźż",  # Polish
    "áčďéěíňóřšťúůýž",  # Czech
    "áäčďéíĺľňóôŕšťúýž",  # Slovak
    "áéíóöőúüű",  # Hungarian
    "čćđšž",  # Croatian, Slovene
    "ăâîşţ",  # Romanian
)
_TURKISH = ("çğıöşüâîi̇",)
_BALTIC = ("āčēģīķļņšūž", "ąčęėįšųūž", "äöõüšž")
_RUSSIAN = ("абвгдежзийклмнопрстуфхцчшщъыьэюяё", "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя", "абвгдђежзијклљмнњопрстћуфхцчџш")
_GREEK = ("αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰ",)
_HEBREW = ("אבגדהוזחטיךכלםמןנסעףפץצקרשת",)
_ARABIC = ("ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهويىًٌٍَُِّْپچژگ",)
_THAI = ("กขคฆงจฉชซญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮะัาำิีึืุูเแโใไ็่้๊๋์ๆ",)

# Codec, the alphabets of its languages, the share of frequent letters that its text shows, those letters.
# Where two fit alike, the earlier wins: so the more common encoding stands first.
SINGLE_BYTE: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("cp1252", _WESTERN, ""),
    ("cp1251", _RUSSIAN, "оеаинтсрвлкмдпуі"),
    ("koi8-r", _RUSSIAN, "оеаинтсрвлкмдпуі"),
    ("cp1250", _CENTRAL, ""),
    ("cp866", _RUSSIAN, "оеаинтсрвлкмдпуі"),
    ("koi8-u", _RUSSIAN, "оеаинтсрвлкмдпуі"),
    ("iso-8859-5", _RUSSIAN, "оеаинтсрвлкмдпуі"),
    ("cp1253", _GREEK, "αοιετσνηυρπκλμς"),
    ("cp1254", _TURKISH, ""),
    ("cp1255", _HEBREW, "יוהלארתשמבםנ"),
    ("cp1256", _ARABIC, "اليمونرتبةعدسفهكقأ"),
    ("cp1257", _BALTIC, ""),
    ("iso-8859-2", _CENTRAL, ""),
    ("cp874", _THAI, "านรอกเงมยลวดท่สตะปบ้คหไแจพชข"),
    ("iso-8859-6", _ARABIC, "اليمونرتبةعدسفهكقأ"),
    ("iso-8859-7", _GREEK, "αοιετσνηυρπκλμς"),
    ("mac-cyrillic", _RUSSIAN, "оеаинтсрвлкмдпуі"),
    ("mac-roman", _WESTERN, ""),
    ("cp850", _WESTERN, ""),
    ("cp852", _CENTRAL, ""),
)
# Rare today: taken only where they fit clearly better than the others.
RARE = {"mac-roman": 0.8, "cp850": 0.8, "cp852": 0.8, "mac-cyrillic": 0.98, "cp874": 0.9}

PUNCTUATION = frozenset("“”‘’„‚–—…•€£§°©®™«»·\u00a0¿¡×²³½¼¾‰†№‹›´±÷¬¦¨¹µ\u00ad\u200e\u200f")
INSIDE = frozenset("’‘'·–—…\u00ad")  # punctuation that stands between letters of a word
CJK_PUNCTUATION = frozenset("　、。，．・：；？！（）「」『』【】《》〈〉“”‘’…—～·〔〕")

_SIMPLIFIED = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种"
    "事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公"
    "此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特"
    "代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数"
    "安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达"
    "光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运测试"
)
_TRADITIONAL = (
    "這個們來為國說時會對過發後裡種經麼學現當動還進樣從實軍無與長機關點業將兩間問應戰頭體見產內給門東聲員論處義幾認條氣題"
    "爾變總電數報結務場計資統區隊決馬聽達難權記設類據規萬領傳師觀讓識帶導爭運之其者也以於則乃曰矣焉維"
    "設定檔案測試顯示搜尋使用請輸入確取消開啟關閉儲存網路系統軟版本語言文件資料"
)
_KANJI = (
    "日本人年大国会出長中時行見分後前生五間上東四今金九入学高円子外八六下来気小七山話女北午先名川千水半男西電語木聞食"
    "京都府県市区町村道駅社者員民業場所地部新古同通内全明合意味文字設定表示用使作成力確認情報処理実行変更追加削除開始終了検索結果"
    "対象必要方法以可能東西的性化体機動物事手目自家族国語学校"
)
_KANA = "".join(map(chr, range(0x3041, 0x3094))) + "".join(map(chr, range(0x30A1, 0x30FB))) + "ー"
_HANGUL = (
    "이다의가는을에고하지로기한사리자은인아나어도대시해서라전그부정수스있일보만상여를제주과원으적안동성위구모경조장신공개었면"
    "했것거국선비유연방문우체화할중계게트소영당물치산내관오역세반와네던니드본까양없현민실미들저마무러때생강발호남북족분권포입"
    "명표직회단년월처향운통차럼된될바습합됩텍테설파"
)

# Codec, the wider codec that holds its vendors' additions, frequent characters.
MULTI_BYTE: tuple[tuple[str, str, frozenset[str]], ...] = (
    ("shift_jis", "cp932", frozenset(_KANA + _KANJI)),
    ("euc-jp", "euc_jis_2004", frozenset(_KANA + _KANJI)),
    ("gb18030", "", frozenset(_SIMPLIFIED)),
    ("big5", "cp950", frozenset(_TRADITIONAL + _SIMPLIFIED)),
    ("euc-kr", "cp949", frozenset(_HANGUL)),
)
FREQUENT = frozenset(_SIMPLIFIED + _TRADITIONAL + _KANA + _HANGUL)
