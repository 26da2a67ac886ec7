// The words that the generated people are made of.

package texts

var (
	firstNames = []string{
		"Adela", "Anouk", "Arvid", "Basma", "Bruno", "Carys", "Dario", "Edda", "Elio", "Farid", "Fenna", "Gita", "Goran", "Hanne", "Idris",
		"Ilse", "Imani", "Jarek", "Joana", "Kaito", "Katya", "Lamar", "Leena", "Lucio", "Mairi", "Mateo", "Mirela", "Nadim", "Noor", "Odile",
		"Orson", "Paola", "Pavel", "Quinn", "Rahel", "Rasmus", "Sanna", "Selim", "Sunita", "Tarik", "Tilda", "Umberto", "Vesna", "Wanda",
		"Xenia", "Yaron", "Yuki", "Zora",
	}
	lastNames = []string{
		"Abernathy", "Aldana", "Bergstrom", "Bianchi", "Calloway", "Castellan", "Dahlgren", "Devereux", "Eklund", "Farrokh", "Fontaine",
		"Galanis", "Hargrove", "Haugen", "Ibarra", "Ivanova", "Jankowski", "Kaplan", "Kerimov", "Kirchner", "Lindqvist", "Lombardi", "Machado",
		"Marchetti", "Nakamura", "Novak", "Okafor", "Oyelaran", "Papadakis", "Petrov", "Quispe", "Ravnborg", "Rousseau", "Sandoval", "Sorensen",
		"Tamura", "Thorne", "Underhill", "Vasquez", "Verhoeven", "Wexler", "Whitlock", "Yamada", "Yilmaz", "Zamora", "Zielinski", "Almasi",
		"Brandvold", "Cervenka", "Drummond",
	}
	cities = []string{
		"Aalborg", "Adelaide", "Alexandria", "Antwerp", "Arequipa", "Baku", "Bergen", "Bologna", "Bristol", "Cartagena", "Cork", "Dakar",
		"Gdansk", "Geneva", "Ghent", "Graz", "Havana", "Izmir", "Jaipur", "Kigali", "Krakow", "Kyoto", "Lagos", "Leipzig", "Ljubljana", "Lusaka",
		"Malaga", "Manila", "Montreal", "Nairobi", "Odense", "Oran", "Osaka", "Perth", "Porto", "Quito", "Riga", "Salzburg", "Seville",
		"Tallinn", "Tbilisi", "Turku", "Utrecht", "Valencia", "Vilnius", "Wellington", "Yerevan", "Zagreb",
	}
	months = []string{
		"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
	}
	professions = []string{
		"baker", "bookbinder", "botanist", "carpenter", "cartographer", "chemist", "clockmaker", "dentist", "diver", "farmer", "firefighter",
		"fisher", "forester", "gardener", "glassblower", "goldsmith", "jeweller", "judge", "librarian", "lighthouse keeper", "mason", "midwife",
		"miner", "nurse", "pharmacist", "pilot", "plumber", "potter", "sailor", "shepherd", "shoemaker", "surgeon", "surveyor", "tailor",
		"teacher", "translator", "veterinarian", "violin maker", "watchman", "weaver",
	}
	genres = []string{
		"adventure stories", "alternate history", "biographies", "children's books", "comedies of manners", "courtroom dramas", "crime novels",
		"diaries", "epic poetry", "fables", "family sagas", "fantasy", "ghost stories", "gothic novels", "historical novels", "horror",
		"letters", "love stories", "memoirs", "nature writing", "political satire", "psychological thrillers", "science fiction", "sea stories",
		"short stories", "sonnets", "spy novels", "stage plays", "travel books", "westerns",
	}
	titleWords = []string{
		"Amber", "Borrowed", "Broken", "Crooked", "Distant", "Drowned", "Forgotten", "Frozen", "Gentle", "Golden", "Hollow", "Hidden", "Last",
		"Lonely", "Narrow", "Painted", "Quiet", "Restless", "Scarlet", "Second", "Silver", "Sleeping", "Stolen", "Tender", "Unfinished",
		"Velvet", "Wandering", "Winter",
	}
	titleThings = []string{
		"Bridge", "Candle", "Cartographer", "Compass", "Covenant", "Dancer", "Garden", "Guest", "Harbour", "Harvest", "Island", "Key", "Lantern",
		"Letter", "Mirror", "Orchard", "Passage", "Pilgrim", "Promise", "River", "Shadow", "Song", "Staircase", "Stranger", "Thread", "Tide",
		"Tower", "Voyage", "Window", "Witness",
	}
	titlePlaces = []string{
		"Archive", "Ashes", "Border", "Cellar", "Desert", "Estuary", "Fjord", "Forest", "Glacier", "Marsh", "Meadow", "Monsoon", "Mountain",
		"North", "Observatory", "Plain", "Prairie", "Reef", "Rain", "South", "Steppe", "Strait", "Summit", "Valley",
	}
	prizes = []string{
		"Amber Quill", "Arctic Prize", "Black Swan Medal", "Blue Ink Award", "Bronze Lantern", "Cedar Prize", "Coral Pen", "Crystal Inkwell",
		"Delta Medal", "Ebony Scroll", "Emerald Page", "Evening Star Award", "Falcon Prize", "Golden Feather", "Granite Book Award",
		"Harbour Prize", "Iron Bookmark", "Ivory Ribbon", "Jade Laurel", "Lotus Award", "Marble Owl", "Meridian Prize", "Northern Laurel",
		"Olive Branch Medal", "Opal Letter", "Orchid Prize", "Pearl Verse Award", "Red Thread Prize", "Sapphire Shelf", "Silver Anchor",
		"Solstice Medal", "Topaz Chapter",
	}
	instruments = []string{
		"accordion", "balalaika", "bagpipes", "banjo", "bassoon", "bouzouki", "cello", "clarinet", "cornet", "double bass", "dulcimer", "flute",
		"guitar", "harmonica", "harp", "harpsichord", "hurdy-gurdy", "kora", "lute", "mandolin", "marimba", "oboe", "organ", "piano", "recorder",
		"saxophone", "sitar", "trombone", "trumpet", "tuba", "viola", "zither",
	}
	pastimes = []string{
		"archery", "baking bread", "beekeeping", "birdwatching", "calligraphy", "canoeing", "climbing", "collecting stamps", "cycling", "diving",
		"embroidery", "fencing", "fishing", "flying kites", "folding paper", "gardening", "ice skating", "juggling", "kayaking", "knitting",
		"mending clocks", "mushroom picking", "painting", "photography", "playing chess", "pottery", "riding", "rowing", "sailing", "sketching",
		"stargazing", "swimming", "wood carving", "yoga",
	}
	languages = []string{
		"Albanian", "Amharic", "Arabic", "Basque", "Bengali", "Breton", "Catalan", "Czech", "Danish", "Estonian", "Finnish", "Georgian", "Greek",
		"Hausa", "Hebrew", "Hindi", "Hungarian", "Icelandic", "Irish", "Japanese", "Khmer", "Korean", "Latvian", "Maltese", "Nepali", "Persian",
		"Quechua", "Swahili", "Tamil", "Turkish", "Welsh", "Zulu",
	}
	publishers = []string{
		"Aurora Press", "Birch House", "Blackwater Books", "Bright Harbour", "Clover Lane", "Copper Fox", "Driftwood Editions", "Eastgate",
		"Fernhill", "Firefly Press", "Foxglove Books", "Greystone", "Heron and Sons", "Hilltop Press", "Inkstone", "Juniper House",
		"Kestrel Books", "Larkspur", "Lighthouse Editions", "Moonrise Press", "Nightingale", "Oakbridge", "Paper Lantern", "Quarry Books",
		"Redwood Row", "Saltmarsh", "Seven Rivers", "Thistle Press", "Turnstone", "Umbra Books", "Willow Court", "Zephyr House",
	}
	animals = []string{
		"budgerigar", "canary", "chameleon", "chinchilla", "cockatoo", "donkey", "dormouse", "ferret", "finch", "gecko", "goat", "goose",
		"greyhound", "guinea pig", "hamster", "hedgehog", "horse", "macaw", "magpie", "mule", "parrot", "peacock", "pheasant", "pigeon", "pony",
		"poodle", "rabbit", "raven", "sheepdog", "tabby cat", "terrier", "tortoise",
	}
)
