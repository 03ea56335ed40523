-- Submissions for wrk: each has its own idempotency key and a body of valid reports.
-- Arguments after `--`: a name of the run, the campaign's digest, reports a submission, a file with
-- one report in hexadecimal on each line. The result goes to the standard error stream as JSON.

local threads = 0

function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

local name, digest, batch, count
local pool = {}

function init(args)
  name, digest, batch = args[1], args[2], tonumber(args[3])
  count = 0
  math.randomseed(number)
  for line in io.lines(args[4]) do
    pool[#pool + 1] = line:gsub("%x%x", function(byte) return string.char(tonumber(byte, 16)) end)
  end
end

function request()
  count = count + 1
  local reports = {}
  for i = 1, batch do
    reports[i] = pool[math.random(#pool)]
  end
  return wrk.format("POST", nil, {
    ["Content-Type"] = "application/octet-stream",
    ["Idempotency-Key"] = string.format("%s-%d-%012d", name, number, count),
    ["Shoal-Campaign"] = digest,
  }, table.concat(reports))
end

function done(summary, latency, requests)
  local errors = summary.errors
  local lost = errors.connect + errors.read + errors.write + errors.timeout
  io.stderr:write(string.format(
    '{"answers": %d, "refused": %d, "lost": %d, "seconds": %.6f, "p50": %.3f, "p99": %.3f}\n',
    summary.requests, errors.status, lost, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
