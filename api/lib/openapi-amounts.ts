/** Names of amounts whose words say all but the unit. */
const plainMoney =
  `allocated allocatedAmount amountFrom amountTo applied assets authorisedAmount availableReceipts cost credited cash closing closingBalance commission
  covered deductions discountShare disputedAmount equity estimatedValue expense expectedAmount expectedTotal extraAdultAmount fine finalRoomRevenue
  fromAmount ibs cbs iss includedTax interest liabilities lowestAmount maxAmount netAmount netRevenue nextTotal onTheBooksRevenue open opening openingBalance
  openTotal otherRevenue overduePayables overdueReceivables overdueTotal paidAmount payables payouts platformFeeAmount principal receivables receivedValue recurring refunded residual
  returned revenue roomRevenue serviceChargeAmount settled standardAmount subtotal taxAmount totalAfter totalBefore totalRevenue transfers transfersIn transfersOut unallocated
  unbilled unitPrice waivedAmount budget lastYear monthToDate openAmount yearToDate withheld writtenOff discount otherProperties`.split(
    /\s+/,
  )

/** Names of shares in basis points. */
const shares =
  `fineRate holdShare issRate lossRate monthlyInterestRate platformFeeRate priceTolerance serviceChargeRate`.split(' ')

/** Meanings of numbers: their unit, their sign, or the thing that is counted. A name stands alone, or behind its schema. */
const meanings: Readonly<Record<string, string>> = {
  ...Object.fromEntries(plainMoney.map((name) => [name, 'Minor units of the currency'])),
  ...Object.fromEntries(shares.map((name) => [name, 'Basis points: 10000 is 100 %'])),
  acceptedFee: 'Minor units: the fee that the guest was shown; another one is refused',
  actual: 'Minor units: the value that was billed or used',
  adjustmentLimit: 'Minor units up to which the desk adjusts a folio',
  adjustments: 'Minor units: corrections of stock; of issues, adjustments of folios',
  adr: 'Minor units: room revenue by occupied room, taxes included where prices include them; null without rooms',
  adrNet: 'Minor units: room revenue by occupied room, without taxes; null without rooms',
  advances: 'Minor units that were paid ahead and are not set off yet',
  approvalThreshold: 'Minor units from which an entry waits for an approval; null: none does',
  autoApproveLimit: 'Minor units up to which an adjustment needs no approval',
  available: 'What is left to use: minor units of money, or rooms to sell',
  balanceAfter: 'Minor units: the balance of the account after the movement',
  balanceDue: 'Minor units that the guest still owes; below 0 the house owes',
  base: 'Minor units that the rate is taken of',
  bookValue: 'Minor units: the cost less what was depreciated',
  buffer: 'Rooms that are kept back from the channel',
  captureRequested: 'Minor units that were asked of the gateway',
  cleared: 'Minor units: the part of the balance that statements have proven',
  counted: 'Minor units that were counted in the drawer',
  d1to30: 'Minor units that are 1 to 30 days overdue',
  d31to60: 'Minor units that are 31 to 60 days overdue',
  d61to90: 'Minor units that are 61 to 90 days overdue',
  dailyCap: 'The most messages of a day',
  dailyLimit: 'The most pieces of a day; null is without limit',
  delta: 'Minor units: what is due less what was accrued',
  differenceLimit: 'Minor units up to which a difference needs no approval',
  eliminationDifference: 'Minor units that are left between books after what they owe each other is taken out',
  excess: 'Minor units that were paid before and became a receipt',
  expected: 'What should be there: minor units in the drawer, or arrivals and departures',
  exposure: 'Minor units that are open of documents from unbilled to partly paid',
  financing: 'Minor units of cash: above 0 it came in',
  goppar: 'Minor units: gross operating profit by room that can be sold; null without rooms',
  grossOperatingProfit: 'Minor units; below 0 a loss',
  in: 'Minor units that come in',
  investing: 'Minor units of cash: above 0 it came in',
  managerLimit: 'Minor units up to which a manager approves an adjustment',
  matched: 'Minor units that lines of statements explain',
  memoryShare: 'The part of the memory that is used, 0 to 1',
  minimum: 'Minor units below which no reminder is sent',
  modifierRate: 'Basis points on top of the price; below 0 it is taken off',
  notDue: 'Minor units whose day has not come',
  of: 'The number of installments of the document',
  openingDifference: 'Minor units: the count less the balance at opening',
  operating: 'Minor units of cash: above 0 it came in',
  ours: 'Minor units by our records',
  out: 'Minor units that go out',
  over90: 'Minor units that are more than 90 days overdue',
  payable: 'Minor units that are owed to the authority',
  pickupRevenue: 'Minor units: the change of room revenue since the earlier day',
  produced: 'Minor units: the value of preparations that were made',
  receipts: 'Minor units: the value of goods that came',
  refundReserved: 'Minor units of refunds that are under way',
  refundable: 'Minor units that can still go back',
  reserved: 'Minor units that are promised to others',
  result: 'Minor units: revenue less expense',
  resultNotClosed: 'Minor units: the result of years that are not closed',
  revpar: 'Minor units: room revenue by room that can be sold; null without rooms',
  roundTo: 'Minor units: prices are rounded to a multiple of it',
  tax: 'Minor units of tax',
  theirs: 'Minor units by the records of the gateway',
  theoretical: 'Minor units: the value that recipes say was used',
  translationDifference: 'Minor units that exchange rates leave over',
  trevpar: 'Minor units: all revenue by room that can be sold; null without rooms',
  used: 'Minor units: the value that left the stock',
  value: 'By its kind: minor units, basis points, or a number of nights or pieces',
  variance: 'Minor units: the actual value less the expected one',
  average: 'The mean of all scores',
  daysOverdue: 'Days since the day on which it was due; 0 before it',
  escalation: 'Steps that were taken beyond the assignee',
  from: 'The least amount of the band, in minor units, or the first of a range',
  ignored: 'Minor units of lines that are left out',
  lead: 'Days ahead of the night',
  level: 'The depth, or the step, from the first on',
  other: 'Minor units of other revenue',
  pending: 'What waits: a number of jobs, or minor units that the gateway does not pay out yet',
  posted: 'Minor units that stand in the ledger',
  priority: '1 comes first',
  room: 'Minor units of revenue of rooms',
  score: 'Of guests 1 to 5; of duplicates the probability, 0 to 100',
  upTo: 'The last piece of the tier; null is without end',
  weekDay: '1 is Monday, 7 is Sunday',
  'ChannelPush.available': 'Rooms that the channel may sell',
  'IssueSummary.adjustments': 'Minor units that adjustments took off folios',
  'IssueSummary.compensation': 'Minor units of all compensation',
  'IssueSummary.open': 'How many are open',
  'FiscalPeriod.open': 'How many are open',
}

/** The meaning of a number of the schema `title`; undefined where its name says enough. */
export const meaningOfNumber = (title: unknown, field: string): string | undefined =>
  (typeof title === 'string' ? meanings[`${title}.${field}`] : undefined) ?? meanings[field]
