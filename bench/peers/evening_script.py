"""What a good engineer would write in one evening, with Python's own library and OpenSSH's sftp: reads the day's bookings,
checks them, drops exact duplicates, uploads them as a review file, has them reviewed, and says how many are affected. It keeps
nothing: when it is cut off, it is started again from nothing.

    python3 evening_script.py SETTINGS.json
"""

import csv
import json
import os
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from datetime import date

HEADER = ["ServiceId", "BookingReferenceId", "BookingClientName", "ProviderName", "ProviderHotelId", "CheckInDate", "CheckOutDate"]
COLUMNS = ["Service Mappings Id", *HEADER[1:]]
MISSING = {"", "null", "NULL", "Null", "none", "NONE", "None", "undefined", "nan", "NaN"}

with open(sys.argv[1], encoding="utf-8") as file:
    settings = json.load(file)
year, month, day_of_month = settings["day"].split("-")
review_file = os.path.join(settings["folder"], "review.csv")
result_file = os.path.join(settings["folder"], "result.csv")
remote_folder = f"VerifyMappings/{month}{year}"
remote_file = f"{remote_folder}/{day_of_month}{month}{year}.csv"
remote_result = f"{remote_folder}/{day_of_month}{month}{year}_Result.csv"


def accepted(records):
    seen = set()
    for record in records:
        cells = tuple([cell.strip() for cell in record])
        if len(cells) != len(HEADER) or not MISSING.isdisjoint(cells) or cells in seen:
            continue
        service_id, reference, guest, provider, hotel, check_in, check_out = cells
        if not (service_id.isascii() and service_id.isdigit() and 0 < int(service_id) < 2**53):
            continue
        try:
            date.fromisoformat(check_in), date.fromisoformat(check_out)
        except ValueError:
            continue
        seen.add(cells)
        yield int(service_id), reference, guest, provider, hotel, turned(check_in), turned(check_out)


def turned(iso):
    """YYYY-MM-DD to DDMMYYYY"""
    return iso[8:] + iso[5:7] + iso[:4]


def sftp(*commands):
    """Whether all of them went well; one that starts with a dash may fail."""
    login = settings["sftp"]
    options = [
        "-q", "-b", "-",
        "-P", str(login["port"]),
        "-i", login["privateKeyFile"],
        "-c", login["cipher"],
        "-o", f"UserKnownHostsFile={login['knownHostsFile']}",
    ]
    batch = "\n".join([f"cd {login['root']}", *commands, ""])
    call = ["sftp", *options, f"{login['username']}@{login['host']}"]
    return subprocess.run(call, input=batch, text=True, capture_output=True)


with open(settings["bookings"], newline="", encoding="utf-8-sig") as source:
    records = csv.reader(source)
    if next(records) != HEADER:
        sys.exit("other columns than expected")
    with open(review_file, "w", newline="", encoding="utf-8") as target:
        writer = csv.writer(target, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(accepted(records))

put = sftp(f"-mkdir VerifyMappings", f"-mkdir {remote_folder}", f"put {review_file} {remote_file}", f"ls -ln {remote_file}")
if put.returncode != 0:
    sys.exit(f"the upload failed: {put.stderr}")
arrived = int(put.stdout.strip().splitlines()[-1].split()[4])
if arrived != os.path.getsize(review_file):
    sys.exit(f"of {os.path.getsize(review_file)} bytes {arrived} arrived")

query = urllib.parse.urlencode({"ftpFilePath": remote_file})
request = urllib.request.Request(
    f"{settings['baseUrl']}/hotels/ReviewMappingsOfBookedHotelsByFile?{query}",
    headers={"apikey": settings["apiKey"], "accountId": settings["accountId"]},
)
with urllib.request.urlopen(request) as response:
    answer = json.load(response)
if answer["Status"] is not True:
    sys.exit(f"refused: {answer['StatusCode']}")

while sftp(f"get {remote_result} {result_file}").returncode != 0:
    time.sleep(settings["pollSeconds"])

rows = affected = 0
with open(result_file, newline="", encoding="utf-8") as source:
    records = csv.reader(source)
    verdict = next(records).index("IsCorrectMapping")
    for record in records:
        rows += 1
        affected += record[verdict] == "False"
print(json.dumps({"rows": rows, "affected": affected}))
