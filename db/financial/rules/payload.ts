/** Values that select the account of a line (financial.md, selectors and rule keys). All are optional; an event needs those of its lines. */
export type PostingContext = {
  /** @folio; `to` and `from` of a transfer have their own, else this one. */
  folioStage?: 'deposit' | 'guest'
  toStage?: 'deposit' | 'guest'
  fromStage?: 'deposit' | 'guest'
  /** @target: what money is allocated to. The line carries documents.booking, .folio (reservation, folio), .order or .receipt. */
  target?: 'booking' | 'reservation' | 'folio' | 'pos_order' | 'receivable'
  /** @money, @from, @to without an account of their own: money at a gateway. */
  money?: 'gateway'
  /** @revenue, @allowance: category of the folio line or revenue group. */
  category?: string
  /** @revenue of category room: kind of the market segment. */
  marketSegment?: string
  /** @tax, @tax_contra without a tax code or account: what the tax rule is. */
  taxKind?: 'tax' | 'fee'
  taxRuleId?: string
  taxCodeId?: string
  /** @withholding, @withheld: code of the tax. */
  taxCode?: string
  /** @receivable, @fee. */
  customerKind?: string
  /** @credit. */
  credit?: 'credit_note' | 'advance'
  /** @between. */
  between?: 'locations' | 'books'
  /** @stock: group of the item's category. */
  stockGroup?: string
  /** @cost. */
  expenseGroup?: string
  consumption?: string
  unitTypeId?: string
  ratePlanId?: string
  outletId?: string
  itemCategoryId?: string
  channelConnectionId?: string
  method?: string
}

export type PostingParty = { type: 'guest' | 'company' | 'customer' | 'supplier' | 'book'; id: string }

/** One line of a list key (`taxes[]`). Its context goes before that of the payload. */
export type PostingItem = {
  /** Minor units. */
  amount: number
  /** Account named by the caller; goes before rules and roles. */
  accountId?: string
  context?: PostingContext
  party?: PostingParty
  costCenterId?: string
  /** A property of the book, where it is another than that of the event. */
  propertyId?: string
  /** Minor units that the tax was taken of. */
  taxBase?: number
  memo?: string
}

export type PostingPayload = {
  /** By the keys of config/financial-postings.tsv; a key left out is 0. Minor units of the book's currency. */
  amounts: Record<string, number | readonly PostingItem[]>
  /** Accounts named by the caller, by role or selector without `@`: `{ money: cashAccount.ledgerAccountId }`. */
  accounts?: Record<string, string>
  /** Ids by the names in brackets of the file, and `folio`, `booking`, `order`, `receipt` for @folio and @target. */
  documents?: Record<string, string>
  /** By role or selector without `@`, or `all`. */
  parties?: Record<string, PostingParty>
  context?: PostingContext
  costCenterId?: string
  /** Description of the entry and its lines, 1 to 200 characters; no names of persons. */
  memo?: string
}

export type PostingSource = {
  id: string
  /** A running number, such as its version, where one record raises the same event more than once; 0 unless said. */
  seq?: number
}

type Dating = {
  /** `dated: document` events: the document's date. `dated: day` events take the open business day and need none. */
  postingDate?: string
  /** The date came from a gateway or bank: where its period is not open, the first open day stands for it. */
  fromOutside?: boolean
}

type Place = { propertyId: string; bookId?: never } | { bookId: string; propertyId?: string }

/** An ordinary event carries amounts; a mirror event names the event it turns, and carries none. */
export type Posting = { event: string; source: PostingSource } & Dating &
  Place &
  ({ payload: PostingPayload; reversesEventId?: never } | { reversesEventId: string; payload?: never })

/** `repeated`: the same source had raised this event before, and nothing was added. */
export type RaisedPosting = { id: string; postingDate: string; repeated: boolean }
