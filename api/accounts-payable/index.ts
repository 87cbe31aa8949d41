import type { AnyRoute } from '../lib/route.ts'
import { routes as approvalPolicy } from './approval-policy.ts'
import { routes as attachments } from './attachments.ts'
import { routes as credits } from './credits.ts'
import { routes as figures } from './figures.ts'
import { routes as payables } from './payables.ts'
import { routes as payments } from './payments.ts'
import { routes as purchaseOrders } from './purchase-orders.ts'
import { routes as recurring } from './recurring.ts'
import { routes as suppliers } from './suppliers.ts'

export const routes: AnyRoute[] = [
  ...suppliers,
  ...payables,
  ...attachments,
  ...figures,
  ...payments,
  ...credits,
  ...recurring,
  ...purchaseOrders,
  ...approvalPolicy,
]
