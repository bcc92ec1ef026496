-- Health of Herald's resources, whatever their kind. Healthy: in effect. Progressing: being worked on, or waiting for
-- something that may come by itself. Degraded: somebody must change the resource. Suspended: switched off on purpose.
local comesByItself = { PlanNotFound = true, TenantNotFound = true, AppNotFound = true, SecretNotFound = true }

local function is(status, message)
  return { status = status, message = message }
end

local function condition(type)
  for _, one in ipairs((obj.status or {}).conditions or {}) do
    if one.type == type and one.observedGeneration == obj.metadata.generation then
      return one
    end
  end
  return { status = "Unknown", message = "waits for the operator" }
end

local ready, synced = condition("Ready"), condition("Synced")

if obj.metadata.deletionTimestamp ~= nil then
  return is("Progressing", ready.status == "True" and "is being deleted" or ready.message)
end
if ready.status == "False" and not comesByItself[ready.reason] then
  return is("Degraded", ready.message)
end
if ready.status ~= "True" then
  return is("Progressing", ready.message)
end
if synced.status ~= "True" then
  return is("Progressing", synced.message)
end
if obj.spec.suspended or obj.spec.paused then
  return is("Suspended", obj.spec.suspended and "is suspended" or "is paused")
end
return is("Healthy", ready.message)
