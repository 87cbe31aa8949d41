/** Chapters of the reference, in the order in which a house meets them. Each names its tags, with a sentence on what they are about. */
const chapters: Record<string, Record<string, string>> = {
  'Guests who book': {
    public:
      'What a booking portal asks without a sign-in: the house, its offers, a quote, a hold, its payment, and the guest’s own booking.',
  },
  'People and keys': {
    auth: 'Signing in and out, second factors, and one’s own account.',
    tenant: 'The company that the houses belong to.',
    users: 'Members of the staff, their roles, and the houses they work in.',
    invitations: 'Invitations as the invited person sees them.',
    roles: 'Roles of the tenant’s own beside those that are built in.',
    permissions: 'Every permission that a role can hold.',
    apiKeys: 'Keys for programs, with their scopes.',
  },
  'Houses and what they sell': {
    properties: 'Houses: their address, texts, settings, and whether they are ready to be sold.',
    unitTypes: 'Kinds of rooms and beds, as guests choose them.',
    unitPools: 'Units that are sold as one stock.',
    units: 'Single rooms and beds, and their condition.',
    ratePlans: 'Prices under one set of conditions.',
    rateCalendar: 'Prices and restrictions night by night.',
    rateChanges: 'Bulk changes of prices and restrictions, and taking them back.',
    policies: 'Rules of cancellation, deposits and guests who do not arrive, in versions.',
    extras: 'Services that are sold beside the night.',
    promoCodes: 'Codes that lower a price.',
    taxRules: 'Taxes and fees of a night or an extra.',
    ageCategories: 'From which age on a guest counts as a child or an adult.',
    seasons: 'Named ranges of days, for bulk changes.',
    gallery: 'Pictures of a house.',
    propertyPaymentMethods: 'Ways to pay that a house takes.',
    overbookingLimits: 'How many more than there are may be sold.',
    availability: 'Offers for a stay, and why a stay can or cannot be sold.',
  },
  'Bookings and stays': {
    bookings: 'Bookings: one or more stays that were booked together.',
    reservations: 'Stays of one room each, from the booking to the departure.',
    frontDesk: 'Arrivals, departures and guests in house on a day.',
    waitlist: 'Requests for nights that are sold out.',
    folios: 'Bills of a stay: charges, payments and their balance.',
    quotes: 'Prices of stays that staff has frozen for a guest.',
    groups: 'Rooms that are kept for a group, and its rooming list.',
  },
  Guests: {
    guests: 'People who stay or book, as the house knows them.',
    guestDuplicates: 'Profiles that may be of one person.',
    guestConsents: 'What a guest has agreed to, and when.',
    guestNotes: 'Notes of the staff on a guest.',
    guestDocuments: 'Identity documents of a guest.',
    guestBlocks: 'Guests whom the house takes no more.',
    guestRegistrations: 'Forms that guests fill in before or at arrival.',
    privacyRequests: 'Requests of guests to see, correct or erase what is known of them.',
    companies: 'Companies that book or pay for guests.',
  },
  'Issues and lost property': {
    issues: 'Complaints, requests and incidents, with their deadlines.',
    issueCategories: 'Kinds of issues, with their teams, targets and limits.',
    compensations: 'What guests get for what went wrong.',
    lostItems: 'Things that were found or missed.',
    issueAttachments: 'Files of issues and lost property.',
  },
  'Rooms day by day': {
    unitAssignments: 'Which stay has which unit.',
    unitBlocks: 'Units that are out of order or kept back.',
    unitCalendar: 'Stays and blocks of units over days.',
    housekeeping: 'The board of conditions, by house and day.',
    housekeepingTasks: 'What is to be cleaned, inspected or mended.',
    housekeepingSheets: 'The tasks of one attendant for one day.',
    nightAudits: 'The close of a business day.',
  },
  Money: {
    payments: 'Payments, and the calls by which gateways report on them.',
    gatewayAccounts: 'Accounts at payment gateways.',
    paymentMethods: 'Cards that guests have left with a gateway.',
    refunds: 'Money that goes back to a guest.',
    disputes: 'Payments that a payer contests.',
    payouts: 'What a gateway pays to the house.',
    balanceTransactions: 'Movements of a balance at a gateway.',
    reconciliations: 'Comparisons of gateway and ledger.',
    paymentExceptions: 'Payments that need a person.',
    books: 'Sets of accounts, one for each company.',
    chartOfAccounts: 'Accounts of the ledger.',
    ledgerEntries: 'Entries of the ledger, double and never changed.',
    journals: 'Kinds of entries, with their numbers.',
    balances: 'What accounts hold, by period.',
    ledgerLines: 'Lines of entries, by account.',
    entryDrafts: 'Entries by hand, before they are posted.',
    financialAttachments: 'Files beside entries of the ledger and drafts.',
    businessEvents: 'Facts of the house that the ledger posts.',
    postingRules: 'Which accounts a fact is posted to.',
    postingEvents: 'What became of the posting of a fact.',
    fiscalYears: 'Years of a book.',
    periods: 'Months of a book, open or closed.',
    businessDays: 'Days of a house, open or closed.',
    costCenters: 'Parts of a house that bear costs.',
    taxCodes: 'Kinds of taxes in the ledger.',
    entryTemplates: 'Entries that are written often, and those that recur by themselves.',
    accrualSchedules: 'Expenses, income and depreciation that are spread over months.',
    budgets: 'Plans of revenue and expense by month, in versions.',
    taxAssessments: 'Taxes on the revenue of a period, as they were assessed.',
    exchangeRates: 'Rates between currencies, by day.',
    integrityChecks: 'Proofs that the ledger is whole.',
    reports: 'Statements and figures of the ledger, at once.',
    reportRuns: 'Files of reports, made by workers.',
  },
  'Other systems': {
    channelConnections: 'Channel managers that sell a house elsewhere.',
    channelBookings: 'Bookings as channels report them.',
    webhooks: 'Kinds of events that a webhook can ask for.',
    webhookEndpoints: 'Addresses that are told of events.',
    webhookDeliveries: 'Attempts to tell an address of an event.',
    events: 'What has happened, in order.',
  },
  Operations: {
    billing: 'What a tenant pays for: plan, add-ons, use, and its invoices.',
    entitlements: 'Features that a tenant has beside its plan.',
    health: 'Queues, workers and providers at a glance.',
    jobs: 'Jobs of the background workers.',
    queues: 'Queues of jobs, which can be paused.',
    superuser: 'Accounts as superusers see them.',
  },
}

export type Chapter = { name: string; tags: readonly { name: string; description: string }[] }

/** Chapters with those of the tags that are in use. Tags of no chapter stand in one of their own, at the end. */
export const chaptersOf = (used: readonly string[]): Chapter[] => {
  const named = Object.entries(chapters).map(([name, tags]) => ({
    name,
    tags: Object.entries(tags)
      .filter(([tag]) => used.includes(tag))
      .map(([tag, description]) => ({ name: tag, description })),
  }))
  const known = new Set(named.flatMap(({ tags }) => tags.map((tag) => tag.name)))
  const others = used.filter((tag) => !known.has(tag)).map((name) => ({ name, description: '' }))
  return [...named, { name: 'More', tags: others }].filter(({ tags }) => tags.length > 0)
}
