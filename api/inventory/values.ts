import { isBuiltInRole, rolePermissions } from '../../config/roles.ts'
import type { Admission } from '../lib/caller.ts'

/** Whether the role sees what stock is worth. Of the built-in roles of staff, those alone that the permission table says so of. */
export const seesValue = ({ role }: Pick<Admission, 'role'>): boolean =>
  role === null ||
  !isBuiltInRole(role) ||
  role === 'owner' ||
  role === 'admin' ||
  rolePermissions[role].some((one) => one.subject === 'InventoryStock' && one.condition !== null)
