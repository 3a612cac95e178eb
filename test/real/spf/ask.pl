# Answers lines of "ip TAB sender TAB helo" by Mail::SPF (RFC 4408), one result a line.
use strict;
use warnings;
use Mail::SPF;

$| = 1;
my $server = Mail::SPF::Server->new();
while (my $line = <STDIN>) {
    chomp $line;
    my ($ip, $sender, $helo) = split /\t/, $line, -1;
    my @who = $sender eq '' ? (scope => 'helo', identity => $helo) : (scope => 'mfrom', identity => $sender, helo_identity => $helo);
    my $result = eval { $server->process(Mail::SPF::Request->new(versions => [1], ip_address => $ip, @who))->code };
    print defined $result ? $result : 'fault', "\n";
}
