import type { Knex } from 'knex'
import { sql } from '../../db/lib/connection.ts'
import type { Reply } from './client.ts'

/** Callers whose writes are those of a tenant: others read its events. */
export const tellsTenant: ReadonlySet<string> = new Set(['tenant', 'guest', 'registration', 'property'])

/** Rows that are written beside a record, and are none of the tenant's: what is to be done, what is counted, and replies kept for a repeat. */
const noRecord = new Set(['jobs', 'usage_event', 'kept_reply'])

/** Routes that change a record and never tell of it: the contract has no event for it. One that tells does not stand here. */
const never: Readonly<Record<string, string>> = {
  'apiKeys.update':
    'a key is told of when it is made, exchanged, ended, and about to expire; the audit trail has the rest',
  'billing.paymentMethod': 'how a subscription is paid is between the tenant and us',
  'campaigns.create': 'a draft is nobody’s yet; a campaign is told of from its launch on',
  'campaigns.update': 'a draft is nobody’s yet; a campaign is told of from its launch on',
  'approvalPolicy.set': 'who approves what is nobody else’s; the audit trail has it',
  'receivableSettings.set': 'how a book numbers and reminds is nobody else’s; the audit trail has it',
  'receivables.send': 'receivable.sent follows, once a message has left',
  'dunningRuns.create': 'a run is told of when it is done',
  'fiscalDocuments.cancel': 'fiscal_document.cancelled or .cancel_refused follows, once the authority has answered',
  'payableAttachments.create': 'a file is read with its bill; the audit trail has it',
  'payableAttachments.delete': 'a file is read with its bill; the audit trail has it',
  'purchaseOrders.create': 'a draft is nobody’s yet; an order is told of when it is approved',
  'purchaseOrders.update': 'a draft is nobody’s yet; an order is told of when it is approved',
  'channelConnections.activate': 'channel.connected or channel.failed follows, once the channel has answered',
  'channelConnections.create': 'a connection is told of when it begins to work',
  'channelConnections.update': 'how a connection is set up is nobody else’s',
  'fiscalYears.close': 'a year is told of when its result has gone to equity',
  'gatewayAccounts.create': 'an account is told of when the gateway has opened it',
  'books.assignProperty': 'books of a tenant are set up once; the audit trail has it',
  'books.setLocks': 'a lock shows itself in what is refused; the audit trail has it',
  'books.update': 'books of a tenant are set up once; the audit trail has it',
  'conversations.update': 'whose task a conversation is shows in the list alone',
  'costCenters.create': 'how lines are sorted is told with the lines',
  'costCenters.delete': 'how lines are sorted is told with the lines',
  'costCenters.update': 'how lines are sorted is told with the lines',
  'entryDrafts.delete': 'a draft is nobody’s yet; one that was posted stays',
  'entryDrafts.update': 'a draft is told of when it is made, submitted and given back',
  'accrualSchedules.create': 'an accrual is told of with its entries, and when it is over',
  'bankStatements.create': 'bank_statement.imported or .rejected follows, once a worker has read it',
  'bankStatements.delete': 'a statement of which nothing is matched proves nothing',
  'budgets.create': 'a budget is told of when it is approved',
  'budgets.delete': 'a budget is told of when it is approved',
  'budgets.setLines': 'a budget is told of when it is approved',
  'entryTemplates.create': 'entries and drafts that come of it are told of',
  'entryTemplates.delete': 'entries and drafts that come of it are told of',
  'entryTemplates.pause': 'entries and drafts that come of it are told of',
  'entryTemplates.resume': 'entries and drafts that come of it are told of',
  'entryTemplates.update': 'entries and drafts that come of it are told of',
  'exchangeRates.delete': 'rates are read by reports alone',
  'exchangeRates.set': 'rates are read by reports alone',
  'financialAttachments.create': 'a file is read with its entry or draft; the audit trail has it',
  'financialAttachments.delete': 'a file is read with its entry or draft; the audit trail has it',
  'messageChannels.test': 'message_channel.verified or .failed follows, once the test has ended',
  'messageChannels.update': 'how a channel is set up is told of when it is proven',
  'messageTemplates.archive': 'a template is told of when it is published',
  'messageTemplates.create': 'a template is told of when it is published',
  'messageTemplates.update': 'a template is told of when it is published',
  'integrityChecks.run': 'a run is told of where it finds something',
  'inventoryCategories.replace': 'how items are sorted is told with the items',
  'inventoryCounts.enter': 'a count is told of when it is approved',
  'inventoryLocations.replace': 'a location is told of with the stock in it',
  'posOrders.update': 'an order is told of when it is closed, with its total',
  'issueAttachments.create': 'a file is read with its issue or item; the audit trail has it',
  'issueAttachments.delete': 'a file is read with its issue or item; the audit trail has it',
  'issueCategories.create': 'how issues are sorted is told with the issues',
  'issueCategories.update': 'how issues are sorted is told with the issues',
  'journals.create': 'how entries are sorted is told with the entries',
  'journals.update': 'how entries are sorted is told with the entries',
  'reportSchedules.delete': 'nothing comes of it any more',
  'reportRuns.create': 'a run is told of when it has ended',
  'postingEvents.retry': 'entries that come of it are told of',
  'postingRules.create': 'how events are posted is told with the entries',
  'postingRules.end': 'how events are posted is told with the entries',
  'taxCodes.addRate': 'a tax is told of when it is assessed',
  'taxCodes.create': 'a tax is told of when it is assessed',
  'taxCodes.update': 'a tax is told of when it is assessed',
  'reservations.proposeAmendment': 'a proposal takes nothing; what is accepted is told of',
  'housekeepingSheets.create': 'a draft is told of when it is published',
  'paymentMethods.create': 'a method is told of when it is saved',
  'payments.capture': 'a capture is told of when the gateway has made it',
  'payments.create': 'the first event of a payment is what the gateway has answered',
  'payments.createLink': 'the first event of a payment is what the gateway has answered',
  'reconciliations.create': 'a reconciliation is told of when it has run',
  'tenant.update': 'tenants are told of when they are suspended, and when they end',
}

/** Routes with an event for a part of what they change. */
const partly: Readonly<Record<string, string>> = {
  'payables.update': 'a new schedule is told of; a change of a draft is not',
  'receivables.issue': 'an invoice is told of when it has its number',
  'receivables.update': 'a new schedule is told of; a change of a draft is not',
  'guestRegistrations.submit': 'the first event is what the authority has answered',
  'channelConnections.sync': 'what is asked for is pushed and pulled; the connection is what it was',
  'disputes.respond': 'the same answer again',
  'housekeeping.setConditions': 'the condition that the unit has already, set again: a note, or the time of the look',
  'housekeepingTasks.update': 'an attendant is told of; note, rank and time of a task are not',
  'lostItems.update': 'a match is told of; where an item is kept is not',
  'messages.create': 'a message for later is told of when it is queued',
  'payments.cancel': 'what the gateway has is told of when the gateway has closed it',
  'recipes.update': 'a new version is told of; a new name is not',
  'outlets.replace': 'the outlets that differ are told of; the same ones again are not',
  'policies.update': 'new rules are told of; a new name is not',
  'webhookEndpoints.test': 'a ping is sent; the endpoint is what it was',
  'webhookEndpoints.replay': 'what is sent again has been told before',
  'webhookDeliveries.redeliver': 'what is sent again has been told before',
  'public.createPayment': 'the first event of a payment is what the gateway has answered',
}

export type Untold = {
  look: (routeId: string, reply: Pick<Reply, 'headers'>, tables: readonly string[]) => Promise<void>
  /** Of the routes that were looked at: those that ought to have told and did not, or told though they are listed as silent. */
  wrong: () => string[]
}

export const findUntold = (admin: Knex): Untold => {
  const wrong = new Set<string>()
  return {
    look: async (routeId, { headers }, tables) => {
      const records = tables.filter((name) => !noRecord.has(name))
      if (records.length === 0) return
      const events = await sql(admin, `select 1 from event where request_id = ? limit 1`, [headers['x-request-id']])
      if (events.length > 0 && routeId in never) wrong.add(`${routeId} tells of its change: it is listed as silent`)
      if (events.length === 0 && !(routeId in never) && !(routeId in partly))
        wrong.add(`${routeId} wrote ${records.join(', ')} without an event`)
    },
    wrong: () => [...wrong].sort(),
  }
}
